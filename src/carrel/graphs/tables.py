"""The tables of the graph in a database that speaks SQL.

`names`, `mentions`, `triples`, `chunks`, `papers` and `cites` have what each paper contributes, row by row: a chunk's
paper and place are its FROM_DOCUMENT and NEXT_CHUNK, a mention's role is its DISCUSSES, MENTIONS, CODE_EXAMPLE_FOR or
FORMULA_FOR, and an entry that is a paper's is its CITES. The others are worked out from these as they change:
`spellings` how many papers write a name, `same` which concept a key means, `concepts` how much is said of each. The
concepts that a mention and a triple are of stand beside the keys that they were said under, so that a read need not
look them up.
"""

from __future__ import annotations

TABLES = """
    CREATE TABLE papers (paper_id {text} PRIMARY KEY, doi {text}, title {text}, chunks {whole}, mentions {whole},
        triples {whole}){strict};
    CREATE INDEX papers_doi ON papers (doi);
    CREATE INDEX papers_title ON papers (title);
    CREATE TABLE cites (paper_id {text}, doi {text}, title {text}){strict};
    CREATE INDEX cites_paper ON cites (paper_id);
    CREATE INDEX cites_doi ON cites (doi);
    CREATE INDEX cites_title ON cites (title);
    CREATE TABLE chunks (address {text} PRIMARY KEY, paper_id {text}, place {whole}, kind {text}, year {whole},
        venue {text}, tags {text}, topic {text}, chapter {whole}, section {whole}){strict};
    CREATE INDEX chunks_paper ON chunks (paper_id);
    CREATE TABLE names (paper_id {text}, concept {text}, key {text}, spelling {text}, stated {whole},
        definition {text}, category {text}, defined_at {text}){strict};
    CREATE INDEX names_paper ON names (paper_id);
    CREATE INDEX names_concept ON names (concept, paper_id);
    CREATE INDEX names_definition ON names (concept, paper_id) WHERE definition <> '';
    CREATE INDEX names_category ON names (concept, paper_id) WHERE category <> '';
    CREATE TABLE mentions (paper_id {text}, concept {text}, key {text}, address {text}, count {whole}, relevance {real},
        units {whole}, role {text}){strict};
    CREATE INDEX mentions_paper ON mentions (paper_id);
    CREATE INDEX mentions_address ON mentions (address);
    CREATE INDEX mentions_concept ON mentions (concept, relevance DESC, address, role, count DESC);
    CREATE TABLE triples (paper_id {text}, subject {text}, subject_key {text}, predicate {text}, object {text},
        object_key {text}, confidence {real}, address {text}, evidence {text}, starts {whole}, ends {whole}){strict};
    CREATE INDEX triples_paper ON triples (paper_id);
    CREATE INDEX triples_subject ON triples (subject, predicate, object, confidence);
    CREATE INDEX triples_object ON triples (object, predicate, subject, confidence);
    CREATE TABLE spellings (concept {text}, key {text}, digest {text}, spelling {text}, papers {whole},
        curated {whole}, PRIMARY KEY (concept, key, digest)){strict};
    CREATE INDEX spellings_key ON spellings (key);
    CREATE INDEX spellings_length ON spellings (length(key), key, concept);
    CREATE TABLE same (key {text} PRIMARY KEY, meant {text}){strict};
    CREATE INDEX same_meant ON same (meant);
    CREATE TABLE concepts (key {text} PRIMARY KEY, said {whole}, papers {whole}, chunks {whole},
        units {whole}){strict};
    CREATE INDEX concepts_units ON concepts (units DESC, key);"""
CONTRIBUTED = ("papers", "cites", "chunks", "names", "mentions", "triples")
DERIVED = ("spellings", "same", "concepts")
