-- What the spellings of a DOI, and of a title, share, cut off: papers that may be one another are found by it, and then
-- compared. NULL in rows of before: these may be any paper, until the next that is written fills them in.
ALTER TABLE papers ADD COLUMN doi_key TEXT;
ALTER TABLE papers ADD COLUMN title_key TEXT;
CREATE INDEX papers_by_doi ON papers (doi_key);
CREATE INDEX papers_by_title ON papers (title_key);
CREATE INDEX texts_by_digest ON texts (digest);
