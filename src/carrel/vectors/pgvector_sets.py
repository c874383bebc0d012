"""The sets of vectors that a library has on PostgreSQL: the one that is searched, and one that is built beside it.

A row names each, and what it is for; its vectors are in a table of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.databases import facts
from carrel.databases.extensions import Extension
from carrel.databases.postgresql import Tables
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from carrel.databases.sessions import Row, Session

PGVECTOR = Extension("vector", "pgvector", "0.8")
"""From this version on, what a filter leaves out is made up for by searching on."""
TABLES = Tables(
    "vectors",
    (
        """
        CREATE TABLE vector_sets (
            id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            role TEXT NOT NULL UNIQUE,
            model TEXT NOT NULL,
            dim BIGINT NOT NULL,
            half BIGINT NOT NULL,
            indexed BIGINT NOT NULL
        )""",
    ),
    instead="flat",
    extension=PGVECTOR,
)
CURRENT, BESIDE = "current", "beside"
_MOST = 16_000
"""Dimensions that a vector may have."""
_INDEXABLE = 4_000
"""Dimensions up to which there can be an index."""
_INDEXABLE_WHOLE = 2_000
"""Dimensions up to which it can be of vectors in full precision."""
_INLINE = 6_000
"""Bytes of a vector that fit into a page beside all else, so that a scan finds it without another look."""
_FACTS = "id, model, dim, half, indexed"
_SET = f"SELECT {_FACTS} FROM vector_sets WHERE role = ?"
_DROP = f"DELETE FROM vector_sets WHERE role = ? RETURNING {_FACTS}"
_ADOPT = f"UPDATE vector_sets SET role = ? WHERE role = ? RETURNING {_FACTS}"
_NEW = "INSERT INTO vector_sets (role, model, dim, half, indexed) VALUES (?, ?, ?, ?, 0) RETURNING id"
_TABLE = f"""
    CREATE TABLE {{table}} (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, {facts.TYPES},
        embedding {{type}}({{dim}}) NOT NULL);
    ALTER TABLE {{table}} ALTER COLUMN embedding SET STORAGE {{storage}};
    {facts.INDEXES}"""
# Marked first, with all that this locks: one who exchanges sets waits for it here, and nobody for each other.
_MARK_INDEXED = """
    UPDATE vector_sets SET indexed = 1
    WHERE id = (SELECT id FROM vector_sets WHERE id = ? AND indexed = 0 FOR NO KEY UPDATE SKIP LOCKED) RETURNING id"""
_INDEX = "CREATE INDEX ON {table} USING hnsw ({column} {type}_ip_ops) WITH (m = 16, ef_construction = 200)"
# Memory: what the server gives, if that is more, for an index that outgrows it is made many times more slowly. Workers
# would share memory that a container has little of. A user's limit of time is meant for questions.
_BUILDING = """
    SELECT set_config('max_parallel_maintenance_workers', '0', true), set_config('statement_timeout', '0', true),
        set_config('maintenance_work_mem', greatest(pg_size_bytes('512MB'), given) / 1024 || 'kB', true)
    FROM pg_size_bytes(current_setting('maintenance_work_mem')) AS given"""


@dataclass(frozen=True, slots=True)
class VectorSet:
    id: int
    model: str
    dim: int
    half: bool
    indexed: bool

    @property
    def table(self) -> str:
        return f"vectors_{self.id:d}"

    @property
    def type(self) -> str:
        return "halfvec" if self.half else "vector"

    @property
    def is_indexable(self) -> bool:
        return self.dim <= _INDEXABLE

    @property
    def indexed_type(self) -> str:
        """What the index holds; the table has what was put."""
        return "halfvec" if self.half or self.dim > _INDEXABLE_WHOLE else "vector"

    @property
    def indexed_column(self) -> str:
        return f"(embedding::{self.indexed_type}({self.dim:d}))"

    @property
    def storage(self) -> str:
        return "PLAIN" if self.dim * (2 if self.half else 4) <= _INLINE else "EXTERNAL"


def found(session: Session, role: str) -> VectorSet | None:
    return next(map(_read, session.rows(_SET, [role])), None)


def kept(session: Session, role: str) -> VectorSet | None:
    """It is neither dropped nor exchanged until the transaction ends."""
    held = next(map(_read, session.rows(f"{_SET} FOR KEY SHARE", [role])), None)
    # One that was exchanged while it was waited for has another in its place.
    return kept(session, role) if held is None and found(session, role) else held


def made(session: Session, role: str, model: str, dim: int, *, half: bool) -> VectorSet:
    """A new and empty one, in the place of what had that role."""
    if dim > _MOST:
        raise InvalidInput(
            f"PostgreSQL keeps vectors of at most {_MOST} dimensions, not {dim}",
            hint="Set vectors = 'flat', or choose an embedder with shorter vectors.",
        )
    drop(session, role)
    number = session.rows(_NEW, [role, model, dim, half])[0][0]
    new = VectorSet(number, model, dim, half, indexed=False)
    script = _TABLE.format(table=new.table, type=new.type, dim=f"{dim:d}", storage=new.storage)
    for statement in script.split(";"):
        session.write(statement, [()])
    return new


def drop(session: Session, role: str) -> None:
    for old in map(_read, session.rows(_DROP, [role])):
        session.write(f"DROP TABLE {old.table}", [()])


def adopt(session: Session) -> VectorSet:
    """What was built beside takes the place of the current one."""
    if found(session, BESIDE) is None:
        raise ValueError("nothing is beside this store any more")
    drop(session, CURRENT)
    return next(map(_read, session.rows(_ADOPT, [CURRENT, BESIDE])))


def index(session: Session, held: VectorSet) -> None:
    """Unless another process does so at this moment."""
    if not session.rows(_MARK_INDEXED, [held.id]):
        return
    session.rows(_BUILDING)
    session.write(_INDEX.format(table=held.table, column=held.indexed_column, type=held.indexed_type), [()])
    session.write(f"ANALYZE {held.table}", [()])


def _read(row: Row) -> VectorSet:
    return VectorSet(row[0], row[1], row[2], bool(row[3]), bool(row[4]))
