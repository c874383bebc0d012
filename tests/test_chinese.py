"""Questions in another script than the embedder knows: they are asked by their words, in pairs of characters."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from carrel import Library, registry
from carrel.queries import language
from carrel.testing import HashedWords
from carrel.types import StepKind, Strategy
from tests.test_library import record, write_refs

ARCHIVE = Path(__file__).parents[2] / "shared/data/fulltext/oi_wiki_sample_zh/oi_wiki_sample_zh.tar.xz"
TITLES = {
    "string/lib-func": "标准库",
    "string/match": "字符串匹配",
    "string/hash": "字符串哈希",
    "string/trie": "字典树",
    "string/kmp": "前缀函数与 KMP 算法",
    "string/bm": "Boyer–Moore 算法",
    "string/z-func": "Z 函数（扩展 KMP）",
    "string/ac-automaton": "AC 自动机",
    "string/sa": "后缀数组",
    "string/sa-optimal-inplace": "最优原地后缀排序算法",
    "string/sam": "后缀自动机",
    "string/general-sam": "广义后缀自动机",
    "string/suffix-bst": "后缀平衡树",
    "string/suffix-tree": "后缀树",
    "string/pam": "回文树",
    "string/seq-automaton": "序列自动机",
    "string/minimal-string": "最小表示法",
    "string/lyndon": "Lyndon 分解",
    "string/basic": "字符串基础",
    "dp/basic": "动态规划基础",
    "dp/memo": "记忆化搜索",
    "dp/knapsack": "背包 DP",
    "dp/interval": "区间 DP",
    "dp/dag": "DAG 上的 DP",
    "dp/tree": "树形 DP",
    "dp/state": "状压 DP",
    "dp/number": "数位 DP",
    "dp/plug": "插头 DP",
    "dp/count": "计数 DP",
    "dp/dynamic": "动态 DP",
    "dp/probability": "概率 DP",
    "dp/dp-of-dp": "DP 套 DP",
    "dp/opt/state": "状态设计优化",
    "dp/opt/slope": "斜率优化",
    "dp/opt/quadrangle": "四边形不等式优化",
    "dp/opt/monotonic-queue-stack": "单调队列/单调栈优化",
    "dp/opt/wqs-binary-search": "WQS 二分",
}
"""What the wiki calls its articles; the files themselves have only English names and Chinese text."""


class English(HashedWords):
    """Says, as the bundled models do, what it was trained on."""

    languages = frozenset({"en"})

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """About as they count: what they do not know is a token or two for each character."""
        return [len(text) for text in texts]


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    if not ARCHIVE.exists():
        pytest.skip("the articles are not here: shared/data/fulltext/oi_wiki_sample_zh beside the repository")
    folder = tmp_path_factory.mktemp("wiki")
    with tarfile.open(ARCHIVE) as files:
        files.extractall(folder, filter="data")
    with Library.init(folder, embedder=English()) as library:
        assert library.add(folder / "docs").new == 43
        yield library


@pytest.mark.parametrize(("by_paper", "least"), [(False, 0.8), (True, 0.85)])
def test_an_article_is_among_the_first_three_for_its_title(wiki: Library, by_paper: bool, least: float) -> None:
    ids = {Path(source).with_suffix("").as_posix(): row.reference.id for row in wiki.list() for source in row.sources}
    missed = []
    for name, title in TITLES.items():
        shown = wiki.search(title, by_paper=by_paper).passages[:3]
        if ids[f"docs/{name}"] not in {passage.chunk.paper_id for passage in shown}:
            missed.append(f"{title} ({name}): {[passage.chunk.paper_id for passage in shown]}")
    assert 1 - len(missed) / len(TITLES) >= least, "\n".join(missed)


def test_such_a_question_is_asked_by_its_words_and_that_is_told(wiki: Library) -> None:
    result = wiki.search("后缀数组怎么求")
    assert (result.strategy, set(result.counts)) == (Strategy.KEYWORD_ONLY, {"keyword"})
    step = result.understood[-1]
    assert (step.kind, step.found) == (StepKind.LANGUAGE, "zh")
    assert step.taken == f"by its words: {wiki.embedder.name} knows only en"
    assert wiki.search("suffix array").strategy == Strategy.HYBRID
    assert set(wiki.search("后缀数组", mode="vector").counts) == {"vector"}


def test_an_embedder_that_does_not_say_what_it_knows_is_asked_anything(tmp_path: Path) -> None:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as library:
        library.add(write_refs(tmp_path / "in.jsonl", [record(1, abstract="图论是数学的一个分支，研究图的性质。" * 4)]))
        result = library.search("图论")
        assert (result.strategy, set(result.counts)) == (Strategy.HYBRID, {"vector", "keyword"})


def test_the_bundled_model_says_that_it_knows_english() -> None:
    assert registry.make("embedders", "granite").languages == {"en"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("后缀自动机", "zh"),
        ("AC 自动机", "zh"),
        ("DAG 上的 DP", "zh"),
        ("サフィックス木", "ja"),
        ("접미사 배열", "ko"),
        ("суффиксный массив", "ru"),
        ("עץ סיומות", "he"),
        ("suffix array", ""),
        ("what does 图论 mean in the theory of graphs", ""),
        ("role of β-catenin and αβ T cells in disease", ""),
        ("Übergangswahrscheinlichkeit", ""),
        ("🦓 123 ?!", ""),
        ("", ""),
    ],
)
def test_a_script_counts_when_much_is_written_in_it(text: str, code: str) -> None:
    assert language.by_script(text) == code
