-- What `add` was pointed at, for `sync` to look at again.
CREATE TABLE locations (
    path     TEXT PRIMARY KEY,               -- from the library's folder on where it lies inside; or Zotero's address
    folder   INTEGER NOT NULL,
    tags     TEXT NOT NULL,                  -- JSON list
    attached INTEGER NOT NULL                -- whether files that its references name are taken in, too
) STRICT, WITHOUT ROWID;

-- What was last read there, removed papers included: they stay removed until their file changes.
CREATE TABLE known_files (
    path     TEXT PRIMARY KEY,
    location TEXT NOT NULL REFERENCES locations (path) ON DELETE CASCADE,
    digest   TEXT NOT NULL,                  -- SHA-256 of the content
    mark     TEXT NOT NULL,                  -- its size, and its times if they vouch for the content
    paper_id TEXT NOT NULL                   -- whose text it is; empty for a file of references
) STRICT, WITHOUT ROWID;
CREATE INDEX known_files_by_location ON known_files (location);

CREATE TABLE known_entries (
    path     TEXT NOT NULL REFERENCES known_files (path) ON DELETE CASCADE,
    digest   TEXT NOT NULL,                  -- SHA-256 of the record
    paper_id TEXT NOT NULL,
    record   TEXT NOT NULL,                  -- the reference as the file gave it, as a line of refs.jsonl
    PRIMARY KEY (path, digest)
) STRICT, WITHOUT ROWID;
