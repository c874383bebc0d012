"""What a PostgreSQL server needs that does not come with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg import errors, sql

from carrel.errors import StoreUnavailable

if TYPE_CHECKING:
    import psycopg

    from carrel.databases.sessions import Row

_FOUND = """
    SELECT nspname, extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
    WHERE extname = %s"""
# Where others look for it, too. In the schema of a library, it would be gone with that.
_MAKE = "CREATE EXTENSION IF NOT EXISTS {} SCHEMA public"


@dataclass(frozen=True, slots=True)
class Extension:
    name: str
    product: str
    least: str
    """The version from which it has all that is asked of it."""


def schema_of(wanted: Extension, connection: psycopg.Connection[Row], address: str) -> str:
    """Where it is in the database; it is made there if it is not and may be."""
    found = connection.execute(_FOUND, [wanted.name]).fetchall() or _made(wanted, connection, address)
    schema, version = found[0]
    if _number(version) < _number(wanted.least):
        raise StoreUnavailable(
            f"the extension {wanted.name!r} on {address!r} is of version {version}; {wanted.least} is needed",
            hint=f"Install a newer {wanted.product} there, then run as PostgreSQL's administrator, in that database: "
            f"ALTER EXTENSION {wanted.name} UPDATE;",
        )
    return str(schema)


def _made(wanted: Extension, connection: psycopg.Connection[Row], address: str) -> list[Row]:
    try:
        with connection.transaction():
            connection.execute(sql.SQL(_MAKE).format(sql.Identifier(wanted.name)))
    except errors.InsufficientPrivilege as error:
        raise StoreUnavailable(
            f"the database {address!r} has no extension {wanted.name!r}, and its user may not make it",
            hint=f"Run as PostgreSQL's administrator, in that database: CREATE EXTENSION {wanted.name};",
        ) from error
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise StoreUnavailable(
            f"the server {address!r} does not have {wanted.product}",
            hint=f"Install {wanted.product} {wanted.least} or newer there, then run as PostgreSQL's administrator, in "
            f"that database: CREATE EXTENSION {wanted.name};",
        ) from error
    return connection.execute(_FOUND, [wanted.name]).fetchall()


def _number(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]
