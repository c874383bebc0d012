"""The graph in a schema of a PostgreSQL database."""

from __future__ import annotations

from carrel.databases.postgresql import Server, Tables
from carrel.graphs.sql import SqlGraph
from carrel.graphs.tables import TABLES

# Texts are ordered by their characters, as everywhere else in Carrel, whatever the language of the database.
_STEPS = (TABLES.format(text='TEXT COLLATE "C"', whole="BIGINT", real="DOUBLE PRECISION", strict=""),)


class PostgresqlGraph(SqlGraph):
    """`postgresql://user@host:5432/database`; each library has a schema of its own there."""

    def __init__(self, argument: str, *, namespace: str, password: str = "") -> None:
        super().__init__(Server(f"postgresql:{argument}", namespace, password, Tables("graph", _STEPS)))
