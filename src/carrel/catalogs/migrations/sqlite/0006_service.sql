-- The name is that of the documents which the service is given; these are what was read of them.
ALTER TABLE documents RENAME TO texts;
DROP INDEX documents_source;
DROP INDEX documents_remarked;
CREATE INDEX texts_source ON texts (source) WHERE source <> '';
CREATE INDEX texts_remarked ON texts (paper_id) WHERE remarks <> '[]';

-- In which order papers came.
ALTER TABLE papers ADD COLUMN added INTEGER NOT NULL DEFAULT 0;
UPDATE papers SET added = rowid;
CREATE INDEX papers_in_order ON papers (added);

CREATE TABLE documents (
    id            TEXT PRIMARY KEY,          -- UUID
    url           TEXT NOT NULL UNIQUE,      -- a path, an address or upload:SHA256/NAME
    title         TEXT NOT NULL,
    format        TEXT NOT NULL,
    author        TEXT NOT NULL,
    file_hash     TEXT NOT NULL,             -- SHA-256
    file_size     INTEGER NOT NULL,
    chunk_count   INTEGER NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'active', 'failed', 'archived')),
    error_message TEXT NOT NULL,
    metadata      TEXT NOT NULL,             -- JSON object
    path          TEXT NOT NULL,
    paper_id      TEXT NOT NULL,
    created_at    TEXT NOT NULL,             -- UTC, to the microsecond, as all times here
    updated_at    TEXT NOT NULL,
    ingested_at   TEXT NOT NULL
) STRICT;
CREATE INDEX documents_latest ON documents (created_at, id);
CREATE INDEX documents_by_paper ON documents (paper_id) WHERE paper_id <> '';
CREATE INDEX documents_by_hash ON documents (file_hash) WHERE file_hash <> '';

CREATE TABLE ingestion_jobs (
    id               TEXT PRIMARY KEY,       -- UUID
    document_id      TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    status           TEXT NOT NULL CHECK
        (status IN ('queued', 'chunking', 'embedding', 'extracting', 'complete', 'failed', 'cancelled')),
    current_step     TEXT NOT NULL,
    progress         INTEGER NOT NULL CHECK (progress BETWEEN 0 AND 100),
    total_chunks     INTEGER,
    processed_chunks INTEGER NOT NULL,
    error_message    TEXT NOT NULL,
    attempts         INTEGER NOT NULL,
    force            INTEGER NOT NULL,
    created_at       TEXT NOT NULL,
    started_at       TEXT NOT NULL,
    completed_at     TEXT NOT NULL
) STRICT;
CREATE INDEX ingestion_jobs_latest ON ingestion_jobs (created_at, id);
CREATE INDEX ingestion_jobs_by_document ON ingestion_jobs (document_id, created_at);
-- One at a time for each document.
CREATE UNIQUE INDEX ingestion_jobs_at_work ON ingestion_jobs (document_id)
    WHERE status IN ('queued', 'chunking', 'embedding', 'extracting');

CREATE TABLE workers (
    name    TEXT PRIMARY KEY,
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE analytics_sessions (
    id         TEXT PRIMARY KEY,
    started_at TEXT NOT NULL,
    ended_at   TEXT,
    user_hash  TEXT NOT NULL                 -- salted
) STRICT, WITHOUT ROWID;

ALTER TABLE rag_queries ADD COLUMN confidence TEXT NOT NULL DEFAULT '';
ALTER TABLE rag_queries ADD COLUMN is_unanswered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rag_queries ADD COLUMN degraded TEXT NOT NULL DEFAULT '[]';        -- JSON list
CREATE INDEX rag_queries_by_time ON rag_queries (timestamp);
CREATE INDEX rag_queries_by_session ON rag_queries (session_id) WHERE session_id IS NOT NULL;

ALTER TABLE retrieval_metrics ADD COLUMN search_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN queue_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN understanding_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN embedding_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN feedback_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN catalog_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN bridges_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN arrange_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN evidence_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN first_token_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN generation_ms REAL;
ALTER TABLE retrieval_metrics ADD COLUMN other_ms TEXT NOT NULL DEFAULT '{}';  -- JSON object, by stage
ALTER TABLE retrieval_metrics ADD COLUMN created_at TEXT NOT NULL DEFAULT '';
UPDATE retrieval_metrics SET created_at = (SELECT timestamp FROM rag_queries WHERE id = query_id);
CREATE INDEX retrieval_metrics_by_time ON retrieval_metrics (created_at);

CREATE TABLE feedback_events (
    id         TEXT PRIMARY KEY,
    query_id   TEXT NOT NULL UNIQUE REFERENCES rag_queries (id) ON DELETE CASCADE,
    rating     INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
    comment    TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    digest       TEXT NOT NULL UNIQUE,       -- SHA-256
    created_at   TEXT NOT NULL,
    expires_at   TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    revoked_at   TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at = '';
