-- Texts are ordered by their characters, as everywhere else in Carrel, whatever the language of the database.
-- Times are UTC, as ISO 8601 has them: cast them to timestamptz to reckon with them.
CREATE TABLE meta (
    key   TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE papers (
    id         TEXT COLLATE "C" PRIMARY KEY,
    title      TEXT NOT NULL,
    year       BIGINT NOT NULL,
    doi        TEXT NOT NULL,
    record     TEXT NOT NULL,                -- the reference, as a line of refs.jsonl
    listed     BIGINT NOT NULL,              -- whether refs.jsonl has it
    state      TEXT NOT NULL CHECK (state IN ('pending', 'active', 'retired')),
    added_at   TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    added      BIGINT NOT NULL               -- in which order they came
);
CREATE INDEX papers_in_order ON papers (added);
CREATE INDEX papers_unfinished ON papers (state) WHERE state <> 'active';

CREATE TABLE texts (
    paper_id TEXT COLLATE "C" NOT NULL REFERENCES papers (id) ON DELETE CASCADE,
    part     TEXT COLLATE "C" NOT NULL CHECK (part IN ('abstract', 'body')),
    text     TEXT NOT NULL,
    digest   TEXT NOT NULL,
    source   TEXT NOT NULL,
    format   TEXT NOT NULL,
    topic    TEXT NOT NULL,
    places   BYTEA,                          -- where each stretch stands on its pages: compressed, read whole
    remarks  TEXT NOT NULL,                  -- JSON list
    PRIMARY KEY (paper_id, part)
);
CREATE INDEX texts_source ON texts USING hash (source) WHERE source <> '';
CREATE INDEX texts_remarked ON texts (paper_id) WHERE remarks <> '[]';

CREATE TABLE chunks (
    address      TEXT COLLATE "C" PRIMARY KEY,
    paper_id     TEXT COLLATE "C" NOT NULL,
    part         TEXT COLLATE "C" NOT NULL,
    kind         TEXT NOT NULL,
    text         TEXT NOT NULL,
    start        BIGINT NOT NULL,
    "end"        BIGINT NOT NULL,
    position     BIGINT NOT NULL,
    chapter      BIGINT NOT NULL,
    section      BIGINT NOT NULL,
    section_path TEXT NOT NULL,              -- JSON list
    language     TEXT NOT NULL,
    token_count  BIGINT NOT NULL,
    has_code     BIGINT NOT NULL,
    has_formula  BIGINT NOT NULL,
    has_table    BIGINT NOT NULL,
    page_start   BIGINT,
    page_end     BIGINT,
    exhibits     TEXT NOT NULL,              -- JSON list
    FOREIGN KEY (paper_id, part) REFERENCES texts (paper_id, part) ON DELETE CASCADE
);
CREATE INDEX chunks_in_order ON chunks (paper_id, part, position);

CREATE TABLE exhibits (
    address     TEXT COLLATE "C" PRIMARY KEY,
    paper_id    TEXT COLLATE "C" NOT NULL,
    part        TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('figure', 'table', 'algorithm')),
    label       TEXT NOT NULL,
    caption     TEXT NOT NULL,
    description TEXT NOT NULL,
    image       TEXT NOT NULL,
    box         TEXT,                        -- JSON: page, left, top, right, bottom
    FOREIGN KEY (paper_id, part) REFERENCES texts (paper_id, part) ON DELETE CASCADE
);
CREATE INDEX exhibits_in_order ON exhibits (paper_id, part, number);

CREATE TABLE citations (
    paper_id  TEXT COLLATE "C" NOT NULL,
    part      TEXT COLLATE "C" NOT NULL,
    position  BIGINT NOT NULL,
    text      TEXT NOT NULL,
    title     TEXT NOT NULL,
    title_key TEXT NOT NULL,                 -- letters and digits only
    doi       TEXT NOT NULL,
    year      BIGINT NOT NULL,
    PRIMARY KEY (paper_id, part, position),
    FOREIGN KEY (paper_id, part) REFERENCES texts (paper_id, part) ON DELETE CASCADE
);

CREATE TABLE embedding_metadata (
    paper_id      TEXT COLLATE "C" PRIMARY KEY REFERENCES papers (id) ON DELETE CASCADE,
    model_name    TEXT NOT NULL,
    indexed_at    BIGINT NOT NULL,           -- seconds since 1970
    abstract_hash TEXT NOT NULL
);

CREATE TABLE locations (
    path     TEXT COLLATE "C" PRIMARY KEY,
    folder   BIGINT NOT NULL,
    tags     TEXT NOT NULL,                  -- JSON list
    attached BIGINT NOT NULL
);

CREATE TABLE known_files (
    path     TEXT COLLATE "C" PRIMARY KEY,
    location TEXT COLLATE "C" NOT NULL REFERENCES locations (path) ON DELETE CASCADE,
    digest   TEXT NOT NULL,
    mark     TEXT NOT NULL,
    paper_id TEXT NOT NULL
);
CREATE INDEX known_files_by_location ON known_files (location);

CREATE TABLE known_entries (
    path     TEXT COLLATE "C" NOT NULL REFERENCES known_files (path) ON DELETE CASCADE,
    digest   TEXT COLLATE "C" NOT NULL,
    paper_id TEXT NOT NULL,
    record   TEXT NOT NULL,
    PRIMARY KEY (path, digest)
);

CREATE TABLE turns (
    session  TEXT COLLATE "C" NOT NULL,
    number   BIGINT NOT NULL,
    question TEXT NOT NULL,
    asked    TEXT NOT NULL,
    answer   TEXT NOT NULL,
    asked_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session, number)
);

CREATE TABLE analytics_sessions (
    id         TEXT COLLATE "C" PRIMARY KEY,
    started_at TEXT COLLATE "C" NOT NULL,
    ended_at   TEXT COLLATE "C",
    user_hash  TEXT NOT NULL                 -- salted
);

CREATE TABLE rag_queries (
    id                TEXT COLLATE "C" PRIMARY KEY,
    session_id        TEXT COLLATE "C" REFERENCES analytics_sessions (id) ON DELETE SET NULL,
    timestamp         TEXT COLLATE "C" NOT NULL,
    query_hash        TEXT NOT NULL,
    query_text        TEXT COLLATE "C",      -- only when the user asked to keep it
    execution_time_ms DOUBLE PRECISION NOT NULL,
    vector_hits       BIGINT,
    keyword_hits      BIGINT,
    graph_hits        BIGINT,
    strategy_used     TEXT COLLATE "C" NOT NULL,
    confidence        TEXT COLLATE "C" NOT NULL,
    is_unanswered     BIGINT NOT NULL,
    degraded          TEXT NOT NULL          -- JSON list
);
CREATE INDEX rag_queries_by_time ON rag_queries (timestamp);
CREATE INDEX rag_queries_by_session ON rag_queries (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE retrieval_metrics (
    query_id                 TEXT COLLATE "C" PRIMARY KEY REFERENCES rag_queries (id) ON DELETE CASCADE,
    vector_search_ms         DOUBLE PRECISION,
    vector_result_count      BIGINT,
    vector_top_score         DOUBLE PRECISION,
    vector_avg_score         DOUBLE PRECISION,
    keyword_search_ms        DOUBLE PRECISION,
    keyword_result_count     BIGINT,
    graph_traversal_ms       DOUBLE PRECISION,
    graph_result_count       BIGINT,
    graph_max_depth          BIGINT,
    concepts_found           BIGINT,
    fusion_ms                DOUBLE PRECISION,
    overlap_count            BIGINT,
    rrf_top_score            DOUBLE PRECISION,
    rerank_ms                DOUBLE PRECISION,
    rerank_top_score         DOUBLE PRECISION,
    confidence_threshold_met BIGINT,
    final_context_tokens     BIGINT,
    citation_count           BIGINT,
    search_ms                DOUBLE PRECISION,
    queue_ms                 DOUBLE PRECISION,
    understanding_ms         DOUBLE PRECISION,
    embedding_ms             DOUBLE PRECISION,
    feedback_ms              DOUBLE PRECISION,
    catalog_ms               DOUBLE PRECISION,
    bridges_ms               DOUBLE PRECISION,
    arrange_ms               DOUBLE PRECISION,
    evidence_ms              DOUBLE PRECISION,
    first_token_ms           DOUBLE PRECISION,
    generation_ms            DOUBLE PRECISION,
    other_ms                 TEXT NOT NULL,  -- JSON object, by stage
    created_at               TEXT COLLATE "C" NOT NULL
);
CREATE INDEX retrieval_metrics_by_time ON retrieval_metrics (created_at);

CREATE TABLE feedback_events (
    id         TEXT COLLATE "C" PRIMARY KEY,
    query_id   TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES rag_queries (id) ON DELETE CASCADE,
    rating     BIGINT NOT NULL CHECK (rating BETWEEN 1 AND 5),
    comment    TEXT NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL
);

CREATE TABLE documents (
    id            TEXT COLLATE "C" PRIMARY KEY,
    url           TEXT COLLATE "C" NOT NULL UNIQUE,
    title         TEXT NOT NULL,
    format        TEXT NOT NULL,
    author        TEXT NOT NULL,
    file_hash     TEXT COLLATE "C" NOT NULL,
    file_size     BIGINT NOT NULL,
    chunk_count   BIGINT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'active', 'failed', 'archived')),
    error_message TEXT NOT NULL,
    metadata      TEXT NOT NULL,             -- JSON object
    path          TEXT NOT NULL,
    paper_id      TEXT COLLATE "C" NOT NULL,
    created_at    TEXT COLLATE "C" NOT NULL,
    updated_at    TEXT COLLATE "C" NOT NULL,
    ingested_at   TEXT COLLATE "C" NOT NULL
);
CREATE INDEX documents_latest ON documents (created_at, id);
CREATE INDEX documents_by_paper ON documents (paper_id) WHERE paper_id <> '';
CREATE INDEX documents_by_hash ON documents (file_hash) WHERE file_hash <> '';

CREATE TABLE ingestion_jobs (
    id               TEXT COLLATE "C" PRIMARY KEY,
    document_id      TEXT COLLATE "C" NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    status           TEXT NOT NULL CHECK
        (status IN ('queued', 'chunking', 'embedding', 'extracting', 'complete', 'failed', 'cancelled')),
    current_step     TEXT NOT NULL,
    progress         BIGINT NOT NULL CHECK (progress BETWEEN 0 AND 100),
    total_chunks     BIGINT,
    processed_chunks BIGINT NOT NULL,
    error_message    TEXT NOT NULL,
    attempts         BIGINT NOT NULL,
    force            BIGINT NOT NULL,
    created_at       TEXT COLLATE "C" NOT NULL,
    started_at       TEXT COLLATE "C" NOT NULL,
    completed_at     TEXT COLLATE "C" NOT NULL
);
CREATE INDEX ingestion_jobs_latest ON ingestion_jobs (created_at, id);
CREATE INDEX ingestion_jobs_by_document ON ingestion_jobs (document_id, created_at);
-- One at a time for each document.
CREATE UNIQUE INDEX ingestion_jobs_at_work ON ingestion_jobs (document_id)
    WHERE status IN ('queued', 'chunking', 'embedding', 'extracting');

CREATE TABLE workers (
    name    TEXT COLLATE "C" PRIMARY KEY,
    seen_at TEXT COLLATE "C" NOT NULL
);

CREATE TABLE tokens (
    id           TEXT COLLATE "C" PRIMARY KEY,
    name         TEXT COLLATE "C" NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    digest       TEXT COLLATE "C" NOT NULL UNIQUE,
    created_at   TEXT COLLATE "C" NOT NULL,
    expires_at   TEXT NOT NULL,
    last_used_at TEXT COLLATE "C" NOT NULL,
    revoked_at   TEXT NOT NULL
);
CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at = '';
