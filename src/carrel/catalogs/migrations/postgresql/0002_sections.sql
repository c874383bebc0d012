-- The sections that a chunk covers, where these are several: JSON list of where each begins in the text, and its path.
ALTER TABLE chunks ADD COLUMN sections TEXT NOT NULL DEFAULT '[]';
