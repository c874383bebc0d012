"""How concepts stand to each other, as sentences, lists and links of a chunk say.

Subject and object read as a sentence: `USES(A, B)` is "A uses B", `PART_OF(A, B)` "A is a part of B",
`EXAMPLE_OF(A, B)` "A is an example of B", `IMPLEMENTS(A, B)` "A implements B". `PREREQUISITE(A, B)`: A is to be
understood before B. `COMPARED_TO` and `RELATED_TO` hold both ways. What is only possible, denied or asked is not
stated.
"""

from __future__ import annotations

from carrel.concepts.triples.asked import Asked
from carrel.concepts.triples.checks import LEAST_CONFIDENCE, MOST_IN_A_CHUNK, validate, validate_content
from carrel.concepts.triples.rules import extract

__all__ = ["LEAST_CONFIDENCE", "MOST_IN_A_CHUNK", "Asked", "extract", "validate", "validate_content"]
