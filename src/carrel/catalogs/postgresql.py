"""The catalog in a schema of a PostgreSQL database: for several processes, on several machines, at once."""

from __future__ import annotations

from carrel.catalogs.migrations import steps
from carrel.catalogs.sql import SqlCatalog
from carrel.databases.postgresql import Server, Tables


class PostgresqlCatalog(SqlCatalog):
    """`postgresql://user@host:5432/database`; each library has a schema of its own there."""

    def __init__(self, argument: str, *, namespace: str, password: str = "") -> None:
        tables = Tables("catalog", steps("postgresql"))
        super().__init__(Server(f"postgresql:{argument}", namespace, password, tables))
