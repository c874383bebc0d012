"""Questions that a library asks of itself: which are made, which are drawn, and what is hidden from the index."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library
from carrel.catalogs import CitationRow
from carrel.errors import InvalidInput
from carrel.evaluate import citing, definitions, own, own_reports, questions, reports
from carrel.evaluate.questions import Kind, Question, Removal
from carrel.testing import HashedWords
from carrel.trials import own as trials
from carrel.types import Author, Cited, Published, Reference
from tests.builders import make_chunk
from tests.own_papers import own_papers, put_whole

JATS = Path(__file__).parents[2] / "shared" / "data" / "fulltext" / "pmc_jats_dev" / "pmc_jats_dev.tar.xz"


@pytest.mark.parametrize(
    ("sentence", "term", "said"),
    [
        (
            "A tidal pool is a basin on the shore that keeps sea water when the tide goes out.",
            "tidal pool",
            "a basin on the shore that keeps sea water when the tide goes out",
        ),
        (
            "Hypertension (HT) was defined as a systolic pressure above 140 mmHg on two occasions.",
            "Hypertension",
            "a systolic pressure above 140 mmHg on two occasions",
        ),
        (
            "Here, we formally define a reachable state as any state that some sequence of moves leads to.",
            "reachable state",
            "any state that some sequence of moves leads to",
        ),
        (
            "The term “shadow library” refers to a collection of papers that nobody has the right to offer.",
            "shadow library",
            "a collection of papers that nobody has the right to offer",
        ),
        (
            "Cluster size, which is defined as the number of nodes reached within one hop, grows slowly.",
            "Cluster size",
            "the number of nodes reached within one hop, grows slowly",
        ),
        ("线段树是一种用来维护区间信息的数据结构，常用于竞赛。", "线段树", "用来维护区间信息的数据结构，常用于竞赛"),
    ],
)
def test_a_definition_is_a_term_and_what_is_said_of_it(sentence: str, term: str, said: str) -> None:
    text = f"Something else comes first. {sentence} And more."
    (found,) = definitions.found(text)
    assert (found.term, found.said) == (term, said)
    assert text[found.span.start : found.span.end] == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "This is a method that nobody has used before for anything of the kind.",
        "The aim of the study is a better method that finds what the others have missed.",
        "It is the first approach which deals with all of the cases that occur.",
        "Choosing a model is a connected problem that cannot be solved in this place.",
        "The exception is the deletion experiment where only one predictor is selected.",
        "The exclusion criteria were defined as follows: studies of serum and of other fluids alone.",
        "The force is a vector that equals $F = m a$ wherever the mass is constant in time.",
        "There are a number of reasons that make this the better of the two choices.",
        "Entailment is a challenging task that has gained much attention in the last years.",
        "Red lines are the regions that differ between both of the groups of patients.",
        "X is a Y that is.",
        "is are was defined as refers to is a that which",
    ],
)
def test_what_only_looks_like_a_definition_is_none(sentence: str) -> None:
    assert list(definitions.found(f"Before it. {sentence} After it.")) == []


@given(st.text())
def test_definitions_are_read_in_any_text(text: str) -> None:
    for found in definitions.found(text):
        assert found.term
        assert found.said
        assert 0 <= found.span.start < found.span.end <= len(text)


def _cites(*entries: tuple[str, int, str]) -> list[CitationRow]:
    return [
        CitationRow("a", place, Cited(text, year=year), known_as=known)
        for place, (text, year, known) in enumerate(entries)
    ]


SMITH = Reference("b", "On trees", authors=(Author("Smith", "Jo"), Author("Yu", "Tim")), published=Published(2019))
NUMBERED = _cites(("1. Jones K. Leaves. 2018.", 2018, ""), ("2. Smith J, Yu T. On trees. 2019.", 2019, "b"))
NAMED = _cites(("Jones, K. (2018). Leaves.", 2018, ""), ("Smith, J., & Yu, T. (2019). On trees.", 2019, "b"))


def _found(rows: Sequence[CitationRow], text: str) -> list[str]:
    marks = citing.Marks(rows, {"b": SMITH}, [text])
    return [one.words for one in marks.found(text) if one.cited == {"b"}]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Trees grow slowly in the shade [2].", "Trees grow slowly in the shade."),
        ("Trees grow slowly [1, 2] in the shade.", "Trees grow slowly in the shade."),
        ("Trees grow slowly [1]–[3] in the shade.", "Trees grow slowly in the shade."),
        ("Trees [1], [2] grow slowly in the shade.", "Trees grow slowly in the shade."),
        ("Trees grow slowly in the shade.[2] Rain helps them.", "Trees grow slowly in the shade."),
        ("Trees grow slowly in the shade. [2] Rain helps them.", "Trees grow slowly in the shade."),
        ("Trees grow slowly in the shade. [2]", "Trees grow slowly in the shade."),
    ],
)
def test_a_sentence_cites_by_number(marked: str, plain: str) -> None:
    assert _found(NUMBERED, f"Leaves fall [1]. {marked}") == [plain]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Trees grow slowly (Smith and Yu, 2019).", "Trees grow slowly."),
        ("Trees grow slowly (Jones, 2018; Smith et al., 2019a).", "Trees grow slowly."),
        ("As Smith & Yu (2019) say, trees grow slowly.", "As say, trees grow slowly."),
    ],
)
def test_a_sentence_cites_by_author_and_year(marked: str, plain: str) -> None:
    assert _found(NAMED, f"Leaves fall (Jones, 2018). {marked}") == [plain]


def test_marks_that_may_mean_something_else_are_not_citations() -> None:
    others = _cites(*((f"Other, A. (200{n}). More leaves.", 2000 + n, "") for n in range(4)))
    assert _found([*NAMED, *others], "Values lie in [0, 1] or [2] here. Smith came in 2018.") == []
    assert _found(NUMBERED, "Many works say so [1, 2, 5–9].") == []
    twice = [*NAMED, *_cites(("Smith, J. (2019). Other trees.", 2019, ""))]
    assert _found(twice, "Trees grow slowly (Smith, 2019).") == []


def test_entries_without_numbers_are_counted_when_the_text_names_most_of_them() -> None:
    assert _found(NAMED, "Leaves fall [1]. Trees grow slowly [2].") == ["Trees grow slowly."]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        yield put_whole(made, *own_papers())


def test_a_library_gives_questions_of_every_kind(library: Library) -> None:
    made = own.make(library.stores.catalog, seed=0)
    assert (made.papers, made.read) == (12, 12)
    assert {kind: len(found) for kind, found in made.questions.items()} == dict.fromkeys(Kind, 12)
    asked = {one.kind: one for found in made.questions.values() for one in found if "tides" in one.hidden_in}
    assert asked[Kind.TITLE].text == "How tidal pools recover after storms"
    assert asked[Kind.TITLE].relevant == {"tides"}
    assert asked[Kind.DEFINITION].text == "a basin on the shore that keeps sea water when the tide goes out"
    assert asked[Kind.CAPTION].text == "Number of limpets on the rock in each week after the storm"
    assert asked[Kind.CAPTION].dropped == {"tides/fig1"}
    assert asked[Kind.CITATION].text.startswith("Earlier observers had already looked closely")
    assert asked[Kind.CITATION].text.endswith("like those of its new home.")
    assert (asked[Kind.CITATION].relevant, asked[Kind.CITATION].apart) == ({"bread"}, {"tides"})
    for question in asked.values():
        assert question.papers == ({"bread"} if question.kind == Kind.CITATION else {"tides"})


def test_answers_of_definitions_and_captions_still_have_something_to_be_found_by(library: Library) -> None:
    made = own.make(library.stores.catalog, seed=0)
    drawn = questions.draw(made.questions, 48, seed=0)
    removal = Removal(drawn)
    chunks = {
        chunk.address: chunk
        for chunk in removal.chunks(library.stores.catalog.chunks_of([one[0] for one in _topics()]))
    }
    for question in drawn:
        source = questions.spelled(question.source)
        assert not question.dropped & chunks.keys()
        for chunk in chunks.values():
            if chunk.paper_id in question.hidden_in:
                assert not source.search(f"{chunk.text} {' '.join(chunk.section_path)}")
        if not question.of_papers:
            assert all(len(chunks[address].text.split()) >= 25 for address in question.relevant)


def _topics() -> list[tuple[str]]:
    return [(paper.reference.id,) for paper in own_papers()]


def test_a_source_is_hidden_however_it_is_set() -> None:
    source = "Blue marble: health-care in a shifting world"
    question = Question("q", Kind.TITLE, source, frozenset({"a"}), source, frozenset({"a"}))
    removal = Removal([question])
    reference = Reference("a", source, note=f"read “{source.upper()}” again")
    text = "See BLUE MARBLE —\nhealth care, in a\nshifting world, and more."
    chunk = make_chunk("a", 1, text, section_path=(source, "Methods"))
    (altered,) = removal.chunks([chunk])
    assert (altered.text, altered.section_path) == ("See  , and more.", ("", "Methods"))
    assert removal.record(reference).title == ""
    assert "MARBLE" not in removal.record(reference).note
    other = make_chunk("b", 1, text)
    assert list(removal.chunks([other])) == [other]
    assert removal.record(replace(reference, id="b")).title == source


@given(st.text(), st.text())
def test_nothing_of_a_source_stays_and_nothing_else_goes(before: str, source: str) -> None:
    question = Question("q", Kind.DEFINITION, "q", frozenset(), source, frozenset({"a"}))
    text = f"{before} {source}"
    (altered,) = Removal([question]).chunks([make_chunk("a", 1, text)])
    has_words = any(sign.isalnum() for sign in source)
    if has_words:
        assert source not in altered.text
        assert len(altered.text) < len(text) + 1
    else:
        assert altered.text == (text if text.strip() else "")


def _question(kind: Kind, paper: int, number: int, altered: int = 1) -> Question:
    name = f"{kind} {paper} {number}"
    return Question(name, kind, name, frozenset({name}), name, frozenset({f"p{paper}"}), altered=altered)


@given(
    st.dictionaries(st.sampled_from(list(Kind)), st.integers(0, 40), min_size=1),
    st.integers(0, 60),
    st.integers(0, 5),
)
def test_kinds_get_equal_shares_as_far_as_they_reach(sizes: dict[Kind, int], count: int, seed: int) -> None:
    made = {kind: [_question(kind, place % 7, place) for place in range(size)] for kind, size in sizes.items()}
    drawn = questions.draw(made, count, seed=seed)
    assert drawn == questions.draw(dict(reversed(made.items())), count, seed=seed)
    assert len(drawn) == len({one.id for one in drawn}) <= count
    got = {kind: sum(one.kind == kind for one in drawn) for kind in sizes}
    for kind, size in sizes.items():
        assert got[kind] == size or got[kind] >= count // len(sizes)
    assert len(drawn) == min(count, sum(sizes.values()))


def test_one_question_of_each_paper_comes_before_a_second_of_any() -> None:
    made = {Kind.CAPTION: [_question(Kind.CAPTION, paper, number) for paper in range(5) for number in range(9)]}
    assert len({min(one.hidden_in) for one in questions.draw(made, 5, seed=3)}) == 5
    assert questions.draw(made, 5, seed=3) != questions.draw(made, 5, seed=4)


def test_titles_of_long_papers_leave_room_for_other_kinds() -> None:
    made = {
        Kind.TITLE: [_question(Kind.TITLE, paper, 0, altered=25) for paper in range(100)],
        Kind.CAPTION: [_question(Kind.CAPTION, paper, 0) for paper in range(100)],
    }
    drawn = questions.draw(made, 100, seed=0)
    titles = [one for one in drawn if one.kind == Kind.TITLE]
    assert sum(one.altered for one in titles) == questions.MOST_ALTERED
    assert len(drawn) == 100


def _digests(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_measuring_leaves_every_byte_of_the_library_and_gives_the_same_figures_again(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    with Library.init(folder, embedder=HashedWords()) as made:
        put_whole(made, *own_papers())
        made.search("limpets")
    before = _digests(folder)
    with Library.open(folder, embedder=HashedWords()) as opened:
        first = trials.evaluate(opened, count=16, seed=1)
        second = trials.evaluate(opened, count=16, seed=1)
    assert first.as_dict(with_scores=True) == second.as_dict(with_scores=True)
    assert ".carrel/carrel.db" in before
    assert _digests(folder) == before


def test_the_report_has_every_kind_and_way(library: Library) -> None:
    report = trials.evaluate(library, count=20, seed=1)
    told = report.as_dict()
    assert (told["documents"], told["queries"]) == (12, 20)
    assert {kind: part["asked"] for kind, part in told["kinds"].items()} == dict.fromkeys(map(str, Kind), 5)
    assert {"hybrid", "vector alone", "keyword alone"} <= told["arms"].keys()
    for figures in told["arms"].values():
        assert set(figures) == set(own_reports.MEASURES)
        assert all(0 <= figure <= 1 for figure in figures.values())
    assert told["metrics"]["recall@10"] > 0.7
    for example in told["examples"]:
        assert example["question"] in report.as_markdown()
    assert report.as_svg().startswith("<svg")
    assert [one["kind"] for one in told["examples"]] == [kind.value for kind in Kind]
    assert trials.evaluate(library, count=20, seed=2).whole.fingerprint != report.whole.fingerprint


def test_a_title_is_hidden_from_every_arm_and_the_paper_is_found_by_its_text(library: Library) -> None:
    with trials.prepared(library, count=12, seed=0, progress=None) as ready:
        hidden = {paper for one in ready.drawn if one.kind == Kind.TITLE for paper in one.hidden_in}
        searched = ready.mirror.library({})
        titles = {row.reference.id: row.reference.title for row in searched.list()}
        assert hidden
        assert {paper for paper, title in titles.items() if title == "—"} == hidden
        assert not searched.settings.history.enabled


def test_a_library_of_references_only_is_asked_titles(tmp_path: Path) -> None:
    lines = [
        {"id": paper.reference.id, "title": paper.reference.title, "abstract": paper.text[:400], "authors": []}
        for paper in own_papers()
    ]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        made.add(tmp_path / "in.jsonl")
        report = trials.evaluate(made)
    told = report.as_dict()
    assert told["kinds"]["title"]["asked"] == 12
    assert told["kinds"]["caption"]["asked"] == told["kinds"]["citation"]["asked"] == 0
    assert "caption questions, as no passage mentions a figure or table that has a caption: 0" in told["remarks"]
    assert "too few to tell" in told["advice"]


def test_too_few_papers_are_told(tmp_path: Path) -> None:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        put_whole(made, *own_papers()[:7])
        with pytest.raises(InvalidInput, match="7 papers with text; questions of its own need at least 10"):
            trials.evaluate(made)


def test_papers_without_text_of_one_title_or_in_chinese_do_no_harm(tmp_path: Path) -> None:
    papers = own_papers()
    twins = [replace(one, reference=replace(one.reference, id=f"{one.reference.id}-2")) for one in papers[:2]]
    chinese = "快速傅里叶变换是一种在对数线性时间内计算离散傅里叶变换的算法。" + "它把多项式的乘法变成逐点相乘。" * 8
    lines = [
        {"id": "empty", "title": "A paper that has a title and nothing else", "authors": []},
        {"id": "zh", "title": "快速傅里叶变换及其在多项式乘法中的应用", "abstract": chinese, "authors": []},
        {
            "id": "junk",
            "title": "Is a is the that which",
            "abstract": "X is a that. It is the which. " * 9,
            "authors": [],
        },
    ]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        put_whole(made, *papers, *twins)
        made.add(tmp_path / "in.jsonl")
        found = own.make(made.stores.catalog, seed=0)
        titles = {one.id: one for one in found.questions[Kind.TITLE]}
        assert "title empty" not in titles
        assert titles["title tides"].relevant == {"tides", "tides-2"}
        assert "title tides-2" not in titles
        assert titles["title zh"].text == "快速傅里叶变换及其在多项式乘法中的应用"
        # What both copies say would have two answers, of which one would count.
        assert not [one for one in found.questions[Kind.DEFINITION] if "tides" in min(one.hidden_in)]
        assert [one.text for one in found.questions[Kind.DEFINITION] if "zh" in one.hidden_in] == [
            "在对数线性时间内计算离散傅里叶变换的算法"
        ]
        report = trials.evaluate(made)
        assert report.whole.queries == sum(map(len, found.questions.values())) == 45
        assert report.whole.rows[0].scores["title tides"]["recall@10"] == 1.0


def _rows(**ways: list[float]) -> list[reports.Row]:
    def scores(values: Sequence[float]) -> dict[str, dict[str, float]]:
        named = (*own_reports.MEASURES, "recall@100", "map")
        return {f"q{place}": dict.fromkeys(named, value) for place, value in enumerate(values)}

    settings = {"fusion": {"search.fusion": "min_max"}, "bare": {"reranker": "none"}}
    return [
        reports.row(name, scores(values), settings=settings.get(name, {}), is_arm=name == "keyword")
        for name, values in ways.items()
    ]


def test_advice_is_given_only_for_what_is_proved() -> None:
    mine, better, alike = (
        [0.5] * 40,
        [0.5 + 0.01 * (n % 7) for n in range(40)],
        [0.4 + 0.2 * (n % 2) for n in range(40)],
    )
    assert "carrel config set search.fusion min_max" in own_reports.advice(_rows(mine=mine, fusion=better), seed=0)
    assert "--mode keyword" in own_reports.advice(_rows(mine=mine, keyword=better), seed=0)
    assert "gives no answer" in own_reports.advice(_rows(mine=mine, bare=better), seed=0)
    assert own_reports.advice(_rows(mine=mine, fusion=alike), seed=0).startswith("No other way")
    assert "worse: fusion (-0." in own_reports.advice(_rows(mine=better, fusion=mine), seed=0)
    assert "10 questions are too few" in own_reports.advice(_rows(mine=mine[:10], fusion=better[:10]), seed=0)


def test_twelve_real_articles_are_asked_sensible_questions(tmp_path: Path) -> None:
    if not JATS.exists():
        pytest.skip("the articles are not here: shared/data/fulltext/pmc_jats_dev beside the repository")
    with tarfile.open(JATS) as files:
        members = sorted((one for one in files.getmembers() if one.isfile()), key=lambda one: (one.size, one.name))
        chosen = [one for one in members if one.size > 25_000][:12]
        files.extractall(tmp_path / "articles", chosen, filter="data")
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        assert made.add(tmp_path / "articles").new == 12
        found = own.make(made.stores.catalog, seed=0)
        report = trials.evaluate(made, count=12)
    assert len(found.questions[Kind.TITLE]) >= 10
    assert len(found.questions[Kind.CAPTION]) >= 5
    for asked in found.questions.values():
        for one in asked:
            assert 3 <= len(one.text.split()) <= 80
            assert '"' not in one.text
    assert report.whole.metrics["recall@10"] > 0.5
