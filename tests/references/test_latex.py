"""LaTeX in, characters out."""

from __future__ import annotations

import pytest

from carrel.references import latex, names
from carrel.types import Author


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"M{\"u}ller and M\"uller and M\"{u}ller", "Müller and Müller and Müller"),
        (r"Krej{\v{c}}{\'{\i}}", "Krejčí"),
        (r"{\v R}eh{\r u}{\v r}ek", "Řehůřek"),
        (r"\O{}rsted, \AA se, Stra{\ss}e, \L\'od\'z", "Ørsted, Åse, Straße, Łódź"),
        (r"\c{C}elik \~nandu \^{\j}", "Çelik ñandu ĵ"),
        (r"Oil \& Gas: 50\% \#1 a\_b", "Oil & Gas: 50% #1 a_b"),
        (r"{The {\sc CONNIVER} \emph{Reference} \textbf{Manual}}", "The CONNIVER Reference Manual"),
        (r"Driven $t$-$J$ models of Cu$_2$O", "Driven $t$-$J$ models of Cu$_2$O"),
        (r"\(\alpha\)-decay of \alpha{} and \mu", r"$\alpha$-decay of α and μ"),
        ("``Anomalous'' pages 3--4 --- all~of them", "“Anomalous” pages 3–4 — all of them"),
        (r"\enquote{quoted} \href{http://a.org/}{text} \url{http://a.org/~me}", "“quoted” text http://a.org/~me"),
        (r"\LaTeX{} Companion\textsuperscript{2}", "LaTeX Companion2"),
        (r"\unheardof{kept} \unheardof kept", r"kept \unheardof kept"),
        (r"in \aap", "in Astronomy and Astrophysics"),
        ("costs $5 only", "costs $5 only"),
        ("unbalanced {brace and } more }", "unbalanced brace and  more "),
        ("{" * 5000 + "deep" + "}" * 5000, "deep"),
    ],
)
def test_commands_accents_and_braces_become_the_characters_they_mean(written: str, meant: str) -> None:
    assert latex.decode(written) == meant


@pytest.mark.parametrize(
    ("written", "authors"),
    [
        ("Knuth, Donald E. and Leslie Lamport", [Author("Knuth", "Donald E."), Author("Lamport", "Leslie")]),
        ("Ludwig van Beethoven", [Author("van Beethoven", "Ludwig")]),
        ("van der Berg, Anna", [Author("van der Berg", "Anna")]),
        ("von Hicks, III, Michael", [Author("von Hicks", "Michael, III")]),
        ("{Barnes and Noble} and others", [Author("Barnes and Noble")]),
        ("{World Health Organization}", [Author("World Health Organization")]),
        ("Ludwig {Van Beethoven}", [Author("Van Beethoven", "Ludwig")]),
        (r"{\'E}mile Zola AND J{\"o}rg M{\"u}ller", [Author("Zola", "Émile"), Author("Müller", "Jörg")]),
        ("family=Yu, given=Tim, prefix=de", [Author("de Yu", "Tim")]),
        ("{东方不败}", [Author("东方不败")]),
        ("Sand~Man, A.\n and Anderson, B.", [Author("Sand Man", "A."), Author("Anderson", "B.")]),
        (" and and ", []),
        ("", []),
    ],
)
def test_names_are_split_as_bibtex_splits_them(written: str, authors: list[Author]) -> None:
    assert names.read_latex(written) == authors
