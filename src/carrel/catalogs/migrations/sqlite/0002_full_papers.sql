-- What was embedded, and from which words.
CREATE TABLE embedding_metadata (
    paper_id      TEXT PRIMARY KEY REFERENCES papers (id) ON DELETE CASCADE,
    model_name    TEXT NOT NULL,
    indexed_at    INTEGER NOT NULL,          -- seconds since 1970
    abstract_hash TEXT NOT NULL              -- SHA-256
) STRICT, WITHOUT ROWID;

-- Where each stretch of a text stands on its pages: compressed, read whole.
ALTER TABLE documents ADD COLUMN places BLOB;

-- Addresses of the figures, tables and algorithms that a chunk mentions: JSON list.
ALTER TABLE chunks ADD COLUMN exhibits TEXT NOT NULL DEFAULT '[]';

CREATE TABLE exhibits (
    address     TEXT PRIMARY KEY,            -- of the chunk that holds its caption
    paper_id    TEXT NOT NULL,
    part        TEXT NOT NULL,
    number      INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('figure', 'table', 'algorithm')),
    label       TEXT NOT NULL,
    caption     TEXT NOT NULL,
    description TEXT NOT NULL,
    image       TEXT NOT NULL,
    box         TEXT,                        -- JSON: page, left, top, right, bottom
    FOREIGN KEY (paper_id, part) REFERENCES documents (paper_id, part) ON DELETE CASCADE
) STRICT;
CREATE INDEX exhibits_in_order ON exhibits (paper_id, part, number);

CREATE TABLE citations (
    paper_id  TEXT NOT NULL,
    part      TEXT NOT NULL,
    position  INTEGER NOT NULL,
    text      TEXT NOT NULL,
    title     TEXT NOT NULL,
    title_key TEXT NOT NULL,                 -- letters and digits only
    doi       TEXT NOT NULL,
    year      INTEGER NOT NULL,
    PRIMARY KEY (paper_id, part, position),
    FOREIGN KEY (paper_id, part) REFERENCES documents (paper_id, part) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX citations_by_doi ON citations (doi) WHERE doi <> '';
CREATE INDEX citations_by_title ON citations (title_key) WHERE title_key <> '';
