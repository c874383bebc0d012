-- What the reader of a text should know, as that some of it was hidden: JSON list.
ALTER TABLE documents ADD COLUMN remarks TEXT NOT NULL DEFAULT '[]';
CREATE INDEX documents_remarked ON documents (paper_id) WHERE remarks <> '[]';
