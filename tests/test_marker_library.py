"""Two real papers as Marker read them, taken in from a papers-rag cache: outline, figures with pictures, links."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel import Library
from carrel.errors import InvalidInput
from carrel.reading.figures import FigureView
from carrel.testing import HashedWords
from carrel.types import ChunkKind, ExhibitKind

DATA = Path(__file__).parents[2] / "shared" / "data" / "fulltext" / "marker_json" / "marker_examples.tar.xz"
KEYS = {"switch_trans": "SWITCH01", "multicolcnn": "CROWD002"}
_MENTION = re.compile(r"\b(Figure|Table) (\d+)\b")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    if not DATA.exists():
        pytest.skip("the papers are not here: shared/data/fulltext/marker_json beside the repository")
    folder = tmp_path_factory.mktemp("marker")
    with tarfile.open(DATA) as files:
        for member in files:
            name = Path(member.name)
            if name.suffix == ".json" and name.stem in KEYS and (file := files.extractfile(member)):
                key = KEYS[name.stem]
                (folder / "cache" / key).mkdir(parents=True)
                (folder / "cache" / key / f"{key}.json").write_bytes(file.read())
                meta = {"item_key": key, "title": name.stem, "date": "2021-05-01", "publication_title": "A Journal"}
                (folder / "cache" / key / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    overrides = {"ingest.papers_datalab_cache": str(folder / "cache")}
    with Library.init(folder / "library", embedder=HashedWords(), overrides=overrides) as made:
        report = made.add("datalab:")
        assert (report.new, report.failed) == (2, ())
        yield made


def test_what_papers_rag_knows_of_a_paper_is_its_record(library: Library) -> None:
    records = [(row.reference.id, row.reference.title, row.reference.published.year) for row in library.list()]
    assert records == [("CROWD002", "multicolcnn", 2021), ("SWITCH01", "switch_trans", 2021)]
    assert library.add("datalab:SWITCH01").unchanged == 1


@pytest.mark.parametrize(("paper", "figures", "tables", "pictures"), [("SWITCH01", 16, 12, 13), ("CROWD002", 4, 4, 4)])
def test_every_captioned_figure_and_table_is_there_with_its_picture(
    library: Library, paper: str, figures: int, tables: int, pictures: int
) -> None:
    rows = library.stores.catalog.exhibits([paper])
    assert [row.exhibit.kind for row in rows].count(ExhibitKind.FIGURE) == figures
    assert [row.exhibit.kind for row in rows].count(ExhibitKind.TABLE) == tables
    shown = [library.show(row.address) for row in rows if row.exhibit.image]
    assert len(shown) == pictures
    for view in shown:
        assert isinstance(view, FigureView)
        path = view.as_dict()["image"]
        assert Path(path).read_bytes()[:2] in (b"\xff\xd8", b"\x89P")
        assert view.as_dict()["page"] > 0


@pytest.mark.parametrize("paper", ["SWITCH01", "CROWD002"])
def test_what_the_text_calls_a_figure_or_table_leads_to_it_and_back(library: Library, paper: str) -> None:
    by_label = {row.exhibit.label: row.address for row in library.stores.catalog.exhibits([paper]) if row.exhibit.label}
    checked = 0
    for chunk in library.stores.catalog.chunks_of([paper]):
        if chunk.kind != ChunkKind.PASSAGE:
            continue
        mentioned = {f"{kind} {number}" for kind, number in _MENTION.findall(chunk.text)}
        wanted = {by_label[label] for label in mentioned if label in by_label}
        assert wanted <= set(chunk.exhibits)
        for address in wanted:
            view = library.show(address)
            assert isinstance(view, FigureView)
            assert chunk.address in [one["address"] for one in view.as_dict()["referenced_by"]]
            checked += 1
    assert checked >= 8


def test_a_table_is_found_by_its_caption(library: Library) -> None:
    tables = [
        row
        for paper in ("SWITCH01", "CROWD002")
        for row in library.stores.catalog.exhibits([paper])
        if row.exhibit.kind == ExhibitKind.TABLE and len(row.exhibit.caption.split()) > 6
    ]
    assert len(tables) >= 12
    for row in tables:
        found = library.figures(row.exhibit.caption[:300], mode="keyword", kind=ExhibitKind.TABLE, limit=1)
        assert found.as_dict()["results"][0]["address"] == row.address


def test_a_key_is_a_name_and_the_cache_must_be_known(library: Library, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a key has no '/'"):
        library.add("datalab:../../etc")
    with (
        Library.init(tmp_path, embedder=HashedWords()) as other,
        pytest.raises(InvalidInput, match="nothing says where that is"),
    ):
        other.add("datalab:")
