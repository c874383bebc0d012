CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE papers (
    id         TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    year       INTEGER NOT NULL,
    doi        TEXT NOT NULL,
    record     TEXT NOT NULL,                -- the reference, as a line of refs.jsonl
    listed     INTEGER NOT NULL,             -- whether refs.jsonl has it
    state      TEXT NOT NULL CHECK (state IN ('pending', 'active', 'retired')),
    added_at   TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX papers_unfinished ON papers (state) WHERE state <> 'active';

CREATE TABLE documents (
    paper_id TEXT NOT NULL REFERENCES papers (id) ON DELETE CASCADE,
    part     TEXT NOT NULL CHECK (part IN ('abstract', 'body')),
    text     TEXT NOT NULL,
    digest   TEXT NOT NULL,
    source   TEXT NOT NULL,
    format   TEXT NOT NULL,
    topic    TEXT NOT NULL,
    PRIMARY KEY (paper_id, part)
) STRICT;
CREATE INDEX documents_source ON documents (source) WHERE source <> '';

CREATE TABLE chunks (
    address      TEXT PRIMARY KEY,
    paper_id     TEXT NOT NULL,
    part         TEXT NOT NULL,
    kind         TEXT NOT NULL,
    text         TEXT NOT NULL,
    start        INTEGER NOT NULL,
    "end"        INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    chapter      INTEGER NOT NULL,
    section      INTEGER NOT NULL,
    section_path TEXT NOT NULL,              -- JSON list
    language     TEXT NOT NULL,
    token_count  INTEGER NOT NULL,
    has_code     INTEGER NOT NULL,
    has_formula  INTEGER NOT NULL,
    has_table    INTEGER NOT NULL,
    page_start   INTEGER,
    page_end     INTEGER,
    FOREIGN KEY (paper_id, part) REFERENCES documents (paper_id, part) ON DELETE CASCADE
) STRICT;
CREATE INDEX chunks_in_order ON chunks (paper_id, part, position);

CREATE TABLE rag_queries (
    id                TEXT PRIMARY KEY,
    session_id        TEXT,
    timestamp         TEXT NOT NULL,
    query_hash        TEXT NOT NULL,
    query_text        TEXT,                  -- only when the user asked to keep it
    execution_time_ms REAL NOT NULL,
    vector_hits       INTEGER,
    keyword_hits      INTEGER,
    graph_hits        INTEGER,
    strategy_used     TEXT NOT NULL
) STRICT;

CREATE TABLE retrieval_metrics (
    query_id                 TEXT PRIMARY KEY REFERENCES rag_queries (id) ON DELETE CASCADE,
    vector_search_ms         REAL,
    vector_result_count      INTEGER,
    vector_top_score         REAL,
    vector_avg_score         REAL,
    keyword_search_ms        REAL,
    keyword_result_count     INTEGER,
    graph_traversal_ms       REAL,
    graph_result_count       INTEGER,
    graph_max_depth          INTEGER,
    concepts_found           INTEGER,
    fusion_ms                REAL,
    overlap_count            INTEGER,
    rrf_top_score            REAL,
    rerank_ms                REAL,
    rerank_top_score         REAL,
    confidence_threshold_met INTEGER,
    final_context_tokens     INTEGER,
    citation_count           INTEGER
) STRICT;
