"""The graph's sentences in Cypher.

Documents, chunks and concepts are nodes, each with the library that it is of. A concept has one node for each key, and
`means` is the key of the concept that it means. What a paper contributes bears its id: NAMES and ALIAS_OF say what it
calls concepts, the roles where it speaks of them, the predicates how they stand to each other.

What is in the text of a sentence is Carrel's own; all else is a parameter.
"""

from __future__ import annotations

from carrel.types import Predicate, Role

ROLES = "|".join(Role)

CONSTRAINTS = (
    "CREATE CONSTRAINT conceptKey IF NOT EXISTS FOR (n:Concept) REQUIRE (n.library, n.key) IS UNIQUE",
    "CREATE CONSTRAINT documentId IF NOT EXISTS FOR (n:Document) REQUIRE (n.library, n.paper_id) IS UNIQUE",
    "CREATE CONSTRAINT chunkId IF NOT EXISTS FOR (n:Chunk) REQUIRE (n.library, n.chunk_id) IS UNIQUE",
    "CREATE INDEX conceptMeans IF NOT EXISTS FOR (n:Concept) ON (n.library, n.means)",
    "CREATE INDEX documentDoi IF NOT EXISTS FOR (n:Document) ON (n.library, n.doi)",
    "CREATE INDEX documentTitle IF NOT EXISTS FOR (n:Document) ON (n.library, n.title)",
    "CREATE INDEX chunkPaper IF NOT EXISTS FOR (n:Chunk) ON (n.library, n.paper_id)",
    "CREATE INDEX entryPaper IF NOT EXISTS FOR (n:Entry) ON (n.library, n.paper_id)",
    "CREATE INDEX entryDoi IF NOT EXISTS FOR (n:Entry) ON (n.library, n.doi)",
    "CREATE INDEX entryTitle IF NOT EXISTS FOR (n:Entry) ON (n.library, n.title)",
)
FULL_TEXT = (
    "CREATE FULLTEXT INDEX conceptNameIndex IF NOT EXISTS FOR (n:Concept) ON EACH [n.name, n.aliases, n.description]",
    "CREATE FULLTEXT INDEX chunkPreviewIndex IF NOT EXISTS FOR (n:Chunk) ON EACH [n.preview]",
)

# Reading.

PAPERS = "MATCH (d:Document {library: $library}) RETURN d.paper_id"
_OF_PAPER = "UNWIND $papers AS paper MATCH (d:Document {library: $library, paper_id: paper})"
SOME_PAPERS = f"{_OF_PAPER} RETURN paper"
CONTRIBUTED = (
    f"{_OF_PAPER} RETURN paper, d.doi, d.title",
    f"""{_OF_PAPER}-[r:NAMES]->(c:Concept)
        RETURN paper, c.key AS concept, c.key AS key, r.spelling, r.stated, r.description, r.category, r.defined_at""",
    f"""{_OF_PAPER}-[:NAMES]->(c:Concept)<-[r:ALIAS_OF]-(a:Concept) WHERE r.paper_id = paper
        RETURN paper, c.key, a.key, r.spelling, true""",
    f"""{_OF_PAPER}-[:NAMES]->(c:Concept)<-[r:{ROLES}]-(n:Chunk) WHERE r.paper_id = paper
        RETURN paper, c.key, n.chunk_id, r.frequency, r.relevance, type(r)""",
    f"""{_OF_PAPER}-[:NAMES]->(s:Concept)-[r:{"|".join(Predicate)}]->(o:Concept) WHERE r.paper_id = paper
        RETURN paper, s.key, type(r), o.key, r.confidence, r.sourceChunkId, r.evidence, r.starts, r.ends""",
    "UNWIND $papers AS paper MATCH (e:Entry {library: $library, paper_id: paper}) RETURN paper, e.doi, e.title",
)
RESOLVE = """UNWIND $keys AS key MATCH (c:Concept {library: $library, key: key}) WHERE c.means IS NOT NULL
    RETURN c.key, c.means"""
MEANING = "UNWIND $keys AS key MATCH (c:Concept {library: $library, means: key}) RETURN c.key, c.means"
NAMED = """UNWIND $keys AS asked MATCH (c:Concept {library: $library, key: asked})<-[r:NAMES]-(d:Document)
    RETURN c.key AS concept, c.key AS key, r.spelling, count(*),
        max(CASE WHEN d.paper_id = $curated AND r.stated THEN 1 ELSE 0 END)"""
ALIASES = """UNWIND $keys AS key MATCH (c:Concept {library: $library, key: key})<-[r:ALIAS_OF]-(a:Concept)
    RETURN c.key, a.key, r.spelling, count(*), max(CASE WHEN r.paper_id = $curated THEN 1 ELSE 0 END)"""
ALIAS_OF = """UNWIND $keys AS key MATCH (a:Concept {library: $library, key: key})-[r:ALIAS_OF]->(c:Concept)
    RETURN c.key, a.key, r.spelling, count(*), max(CASE WHEN r.paper_id = $curated THEN 1 ELSE 0 END)"""
ALL_NAMES = """MATCH (c:Concept {library: $library})<-[:NAMES]-(:Document)
    WHERE any(piece IN $pieces WHERE c.key CONTAINS piece)
        AND size(c.key) >= $shortest AND size(c.key) <= $longest
    RETURN DISTINCT c.key, c.means"""
ALL_ALIASES = """MATCH (a:Concept {library: $library})-[:ALIAS_OF]->(c:Concept)
    WHERE any(piece IN $pieces WHERE a.key CONTAINS piece)
        AND size(a.key) >= $shortest AND size(a.key) <= $longest
    RETURN DISTINCT a.key, c.means"""
TOLD = """UNWIND $keys AS key MATCH (c:Concept {library: $library, key: key})<-[r:NAMES]-(d:Document)
    WHERE r.description <> '' OR r.category <> ''
    RETURN d.paper_id, c.key, r.description, r.defined_at, r.category"""
SAID_BY = """UNWIND $keys AS key MATCH (c:Concept {library: $library, means: key})<-[:NAMES]-(d:Document)
    WHERE d.paper_id <> $curated RETURN c.means, count(DISTINCT d.paper_id)"""
CHUNKS_OF = f"""UNWIND $keys AS key MATCH (c:Concept {{library: $library, means: key}})<-[r:{ROLES}]-(n:Chunk)
    WHERE r.paper_id <> $curated WITH DISTINCT c.means AS means, r.paper_id AS paper_id, n.chunk_id AS chunk_id
    RETURN means, count(*)"""
UNITS_OF = f"""UNWIND $keys AS key MATCH (c:Concept {{library: $library, means: key}})<-[r:{ROLES}]-(:Chunk)
    RETURN c.means, sum(r.units)"""
SPOTS = f"""UNWIND $keys AS key CALL (key) {{
        MATCH (c:Concept {{library: $library, means: key}})<-[r:{ROLES}]-(n:Chunk)
        WHERE n.paper_id IS NOT NULL
            AND ($papers IS NULL OR n.paper_id IN $papers)
            AND ($kinds IS NULL OR n.kind IN $kinds)
            AND ($year_min IS NULL OR n.year >= $year_min)
            AND ($year_max IS NULL OR (n.year >= 1 AND n.year <= $year_max))
            AND n.venue CONTAINS $venue
            AND ($tags IS NULL OR any(tag IN n.tags WHERE tag IN $tags))
            AND ($topic = '' OR n.topic = $topic)
            AND ($chapter IS NULL OR n.chapter = $chapter)
            AND ($section IS NULL OR n.section = $section)
        RETURN n.chunk_id AS address, r.frequency AS count, r.relevance AS relevance, type(r) AS role
        ORDER BY relevance DESC, address, role, count DESC LIMIT $limit
    }}
    RETURN key, address, count, relevance, role"""
SPOKEN = f"""UNWIND $addresses AS address
    MATCH (n:Chunk {{library: $library, chunk_id: address}})-[r:{ROLES}]->(c:Concept)
    WHERE n.paper_id IS NOT NULL AND ($keys IS NULL OR c.means IN $keys)
    RETURN c.means, n.chunk_id, r.frequency, r.relevance, type(r)"""
CITATIONS = "MATCH (d:Document {library: $library})-[:CITES]->(o:Document) RETURN d.paper_id, o.paper_id"
CITATIONS_OF = """UNWIND $papers AS paper MATCH (d:Document {library: $library, paper_id: paper})-[r:CITES]-(o:Document)
    RETURN startNode(r).paper_id, endNode(r).paper_id"""
SIZE = """MATCH (d:Document {library: $library})
    RETURN coalesce(sum(d.mentions), 0), coalesce(sum(d.triples), 0), coalesce(sum(d.chunks), 0),
        sum(CASE WHEN d.paper_id <> $curated THEN 1 ELSE 0 END)"""
CONCEPT_COUNT = "MATCH (c:Concept {library: $library}) WHERE c.means IS NOT NULL RETURN count(DISTINCT c.means)"


def relations(predicates: str) -> str:
    return f"""UNWIND $keys AS key MATCH (s:Concept {{library: $library, means: key}})-[r:{predicates}]->(o:Concept)
        RETURN s.means, type(r), o.means, max(r.confidence), count(*)"""


def relations_to(predicates: str) -> str:
    return f"""UNWIND $keys AS key MATCH (o:Concept {{library: $library, means: key}})<-[r:{predicates}]-(s:Concept)
        RETURN s.means, type(r), o.means, max(r.confidence), count(*)"""


def triples(predicates: str) -> str:
    return f"""UNWIND $keys AS key MATCH (s:Concept {{library: $library, means: key}})-[r:{predicates}]->(o:Concept)
        WHERE o.means IN $keys
        RETURN s.means, type(r), o.means, r.confidence, r.sourceChunkId, r.evidence, r.starts, r.ends"""


# Writing.

LOCK = "MERGE (l:Library {library: $library}) SET l.writes = coalesce(l.writes, 0) + 1"
NAMED_BY = """UNWIND $papers AS paper MATCH (d:Document {library: $library, paper_id: paper})-[:NAMES]->(c:Concept)
    OPTIONAL MATCH (c)<-[r:ALIAS_OF]-(a:Concept) WHERE r.paper_id = paper RETURN DISTINCT c.key, a.key"""
FORGET = (
    *(
        f"""UNWIND $papers AS paper
        MATCH (:Document {{library: $library, paper_id: paper}})-[:NAMES]->(c:Concept)-[r:{kind}]->(:Concept)
        WHERE r.paper_id = paper WITH DISTINCT r DELETE r"""
        for kind in Predicate
    ),
    """UNWIND $papers AS paper
        MATCH (:Document {library: $library, paper_id: paper})-[:NAMES]->(c:Concept)<-[r:ALIAS_OF]-(:Concept)
        WHERE r.paper_id = paper WITH DISTINCT r DELETE r""",
    f"""UNWIND $papers AS paper
        MATCH (:Document {{library: $library, paper_id: paper}})-[:NAMES]->(c:Concept)<-[r:{ROLES}]-(:Chunk)
        WHERE r.paper_id = paper WITH DISTINCT r DELETE r""",
    "UNWIND $papers AS paper MATCH (e:Entry {library: $library, paper_id: paper}) DETACH DELETE e",
    "UNWIND $papers AS paper MATCH (d:Document {library: $library, paper_id: paper}) DETACH DELETE d",
    # What another contributor says of a chunk stays, and waits for it to come back.
    """UNWIND $papers AS paper MATCH (n:Chunk {library: $library, paper_id: paper})-[r:NEXT_CHUNK]-(:Chunk)
        WITH DISTINCT r DELETE r""",
    """UNWIND $papers AS paper MATCH (n:Chunk {library: $library, paper_id: paper}) WHERE NOT (n)-->()
        DETACH DELETE n""",
    "UNWIND $papers AS paper MATCH (n:Chunk {library: $library, paper_id: paper}) SET n.paper_id = null",
)
PUT_DOCUMENTS = "UNWIND $rows AS row CREATE (d:Document {library: $library, paper_id: row.paper_id}) SET d += row"
PUT_ENTRIES = "UNWIND $rows AS row CREATE (e:Entry {library: $library}) SET e += row"
PUT_CHUNKS = """UNWIND $rows AS row MATCH (d:Document {library: $library, paper_id: row.paper_id})
    MERGE (n:Chunk {library: $library, chunk_id: row.chunk_id}) SET n += row
    CREATE (n)-[:FROM_DOCUMENT]->(d)"""
PUT_ORDER = """UNWIND $rows AS row MATCH (n:Chunk {library: $library, chunk_id: row.from})
    MATCH (m:Chunk {library: $library, chunk_id: row.to}) CREATE (n)-[:NEXT_CHUNK]->(m)"""
PUT_CONCEPTS = "UNWIND $keys AS key MERGE (c:Concept {library: $library, key: key})"
PUT_PLACES = "UNWIND $keys AS key MERGE (n:Chunk {library: $library, chunk_id: key})"
PUT_NAMES = """UNWIND $rows AS row MATCH (d:Document {library: $library, paper_id: row.paper})
    MATCH (c:Concept {library: $library, key: row.concept}) CREATE (d)-[r:NAMES]->(c) SET r += row.told"""
PUT_ALIASES = """UNWIND $rows AS row MATCH (a:Concept {library: $library, key: row.key})
    MATCH (c:Concept {library: $library, key: row.concept}) CREATE (a)-[r:ALIAS_OF]->(c) SET r += row.told"""
MEAN = "UNWIND $rows AS row MATCH (c:Concept {library: $library, key: row.key}) SET c.means = row.means"
DESCRIBE = "UNWIND $rows AS row MATCH (c:Concept {library: $library, key: row.key}) SET c += row.told"
SWEEP = "UNWIND $keys AS key MATCH (c:Concept {library: $library, key: key}) WHERE NOT (c)--() DELETE c"
CITE = tuple(
    f"""UNWIND $papers AS paper MATCH ({end}:{label} {{library: $library, paper_id: paper}}) WHERE {end}.{known} <> ''
        MATCH ({other}:{other_label} {{library: $library, {known}: {end}.{known}}})
        WHERE e.paper_id <> o.paper_id AND {unless}
        MATCH (d:Document {{library: $library, paper_id: e.paper_id}}) MERGE (d)-[:CITES]->(o)"""
    for known, unless in (("doi", "true"), ("title", "(e.doi = '' OR o.doi = '')"))
    for end, label, other, other_label in (("e", "Entry", "o", "Document"), ("o", "Document", "e", "Entry"))
)
LABELS = ("Entry", "Chunk", "Concept", "Document", "Library")


def put_mentions(role: str) -> str:
    return f"""UNWIND $rows AS row MATCH (n:Chunk {{library: $library, chunk_id: row.address}})
        MATCH (c:Concept {{library: $library, key: row.key}}) CREATE (n)-[r:{role}]->(c) SET r += row.told"""


def put_triples(predicate: str) -> str:
    return f"""UNWIND $rows AS row MATCH (s:Concept {{library: $library, key: row.subject}})
        MATCH (o:Concept {{library: $library, key: row.object}}) CREATE (s)-[r:{predicate}]->(o) SET r += row.told"""


def clear(label: str) -> str:
    return f"MATCH (n:{label} {{library: $library}}) WITH n LIMIT 5000 DETACH DELETE n RETURN count(*)"
