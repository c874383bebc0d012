"""Build the library that `carrel demo` opens: sixty references and three full texts.

    python tools/build_demo_library.py ../shared/data

The argument is a data directory with the ACL Anthology metadata, the TEI of two Anthology papers and the
JATS of PLOS articles; everything shipped under src/carrel/demo/ is written anew from it.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from xml.etree.ElementTree import Element

DEMO = Path(__file__).resolve().parents[1] / "src" / "carrel" / "demo"
ANTHOLOGY = "corpora/acl_anthology_2016_2021/corpus.jsonl.gz"
TEI_FOLDER = "fulltext/acl_pdf_tei"
PLOS_ARCHIVE = "fulltext/plos_jats/plos_jats.tar.xz"
PLOS_ARTICLE = "journal.pcbi.1000204.xml"
TEI = "{http://www.tei-c.org/ns/1.0}"
CC_BY_4 = "CC BY 4.0"
PARTICLES = {"van", "von", "de", "der", "den", "del", "la"}

# Anthology id: tags.
REFERENCES = {
    "D19-1371": "language models, scientific text",
    "2020.acl-main.447": "scientific text, corpora",
    "2020.acl-main.670": "information extraction, scientific text",
    "D18-1360": "information extraction, knowledge graphs",
    "D17-1279": "information extraction, keyphrases",
    "P19-1513": "information extraction, leaderboards",
    "2021.acl-long.59": "information extraction, citations",
    "D19-1585": "information extraction",
    "2021.naacl-main.355": "information extraction, covid-19, literature search",
    "D18-1349": "scientific text, biomedicine",
    "P18-1019": "corpora, biomedicine",
    "P19-1191": "scientific writing, knowledge graphs",
    "2021.findings-emnlp.277": "figures, scientific writing",
    "P17-1102": "keyphrases",
    "P19-3025": "knowledge graphs, literature search",
    "2020.emnlp-demos.18": "literature search, covid-19",
    "P18-4015": "literature search, knowledge graphs",
    "2021.acl-demo.14": "literature search, knowledge graphs",
    "N18-1022": "citations, recommendation",
    "N19-1361": "citations",
    "Q18-1028": "citations, scientometrics",
    "2020.acl-main.550": "citations, scientific writing",
    "2021.acl-long.166": "citations, scientific writing",
    "2021.naacl-main.359": "citations",
    "2020.acl-main.464": "citations, scientometrics",
    "D19-1497": "citations, peer review, scientometrics",
    "2020.emnlp-main.609": "claim verification, scientific text",
    "N18-1074": "claim verification, corpora",
    "2021.emnlp-main.290": "claim verification, scientific text",
    "2020.emnlp-main.550": "retrieval, question answering",
    "P19-1612": "retrieval, question answering",
    "2021.eacl-main.74": "retrieval, question answering",
    "P17-1171": "retrieval, question answering",
    "2021.tacl-1.20": "retrieval",
    "2020.emnlp-main.341": "retrieval, covid-19, literature search",
    "N19-4013": "retrieval, question answering",
    "D18-1259": "question answering, corpora",
    "Q19-1026": "question answering, corpora",
    "P18-2124": "question answering, corpora",
    "P17-1147": "question answering, corpora",
    "D19-1259": "question answering, biomedicine, corpora",
    "2021.naacl-main.365": "question answering, scientific text, corpora",
    "2020.findings-emnlp.428": "summarisation, scientific text",
    "N18-2097": "summarisation, scientific text",
    "P17-1099": "summarisation",
    "D19-1387": "summarisation, language models",
    "D18-1206": "summarisation, corpora",
    "2020.emnlp-main.648": "summarisation, scientific writing, corpora",
    "P19-1204": "summarisation, scientific text, corpora",
    "2020.acl-main.173": "summarisation, faithfulness",
    "2020.emnlp-main.750": "summarisation, faithfulness",
    "2020.acl-main.450": "summarisation, faithfulness, question answering",
    "N19-1423": "language models",
    "2020.acl-main.703": "language models, summarisation",
    "2020.acl-main.740": "language models, domain adaptation",
    "D19-1410": "sentence embeddings, language models",
    "D19-1250": "language models, knowledge",
    "2020.emnlp-main.437": "language models, knowledge, question answering",
    "2020.tacl-1.54": "language models, surveys",
    "2021.emnlp-main.552": "sentence embeddings",
}

GAP = " … "  # Stands for whatever lies between, as little of it as will do.

# What GROBID got wrong, read against the published PDF: words split or joined at a line's end, citations
# lost, footnotes caught in a sentence, formulas, headings that run into their text. The PLOS article was
# read without its PDF: its web addresses get back the "?", "=" and "&" that their form demands.
CORRECTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "2020.acl-main.207": (
        ("stateof-the-art", "state-of-the-art"),
        ("documentlevel", "document-level"),
        ("SCI-DOCS", "SCIDOCS"),
        ("SciB-ERT", "SciBERT"),
        ("Trans-formERs", "TransformERs"),
        ("finetun", "fine-tun"),
        ("coread", "co-read"),
        ("cocitation", "co-citation"),
        ("coviews", "co-views"),
        ("crosstopic", "cross-topic"),
        ("graphbased", "graph-based"),
        ("sentenceand", "sentence- and"),
        ("cita-tions", "citations"),
        ("token-and", "token- and"),
        ("( §", "(§"),
        ("language model-even a", "language model—even a"),
        ("2019)-does not", "2019)—does not"),
        ("important-using", "important—using"),
        ("2018; Devlin et al., 2019;. While", "2018; Devlin et al., 2019; Yang et al., 2019). While"),
        ("(Tu et al., 2017;) have", "(Tu et al., 2017; Chen et al., 2019) have"),
        ("2019; Liu et al., 2019); we use", "2019; Yang et al., 2019; Liu et al., 2019); we use"),
        ("applications . But", "applications (Bhagavatula et al., 2018). But"),
        ("English documents . New", "English documents (Chen et al., 2019; Wang et al., 2019). New"),
        ("Scholar corpus consisting", "Scholar corpus (Ammar et al., 2018) consisting"),
        ("in AllenNLP . We", "in AllenNLP (Gardner et al., 2018). We"),
        ("Citeomatic , a closely", "Citeomatic (Bhagavatula et al., 2018), a closely"),
        ("data Radford et al., 2018", "data (Peters et al., 2018; Radford et al., 2018"),
        ("2016; Wu et al., 2018", "2016; Liu et al., 2017; Wu et al., 2018"),
        ("methods Zamani et al., 2018)", "methods (Liu et al., 2018; Zamani et al., 2018)"),
        ("Marfurt, 2018;.", "Marfurt, 2018; Wang et al., 2019)."),
        (
            "(Tu et al., 2017;. These",
            "(Tu et al., 2017; Zhang et al., 2018; Bhagavatula et al., 2018; Shen et al., 2018; "
            "Chen et al., 2019; Wang et al., 2019). These",
        ),
        ("work by , they", "work by Wang et al. (2019), they"),
        ("benchmark. 1\n", "benchmark.\n"),
        ("SPECTER, 2 incorporates", "SPECTER, incorporates"),
        ("the state-SPECTER: … of-the-art", "the state-of-the-art"),
        ("SCIDOCS 3 , a novel", "SCIDOCS, a novel"),
        ("2015) 8 . MAG", "2015). MAG"),
        ("distance 9 as", "distance as"),
        ("advantages Embeddings are … L2 distance. on", "advantages on"),
        ("scheduler 10 (", "scheduler ("),
        ("reproducibility. 11", "reproducibility."),
        ("time. 12 Note", "time. Note"),
        ("\n\nFor SGC, we remove … in production.", ""),
        ("performance, 14 except", "performance, except"),
        ("correlation We experimented … not normalized. with", "correlation with"),
        ("embeddings. 15", "embeddings."),
        ("method,\n\nWe also experimented … improvements. the", "method, the"),
        ("corpus.\n\nWe also experimented … the L2 loss.\n\nGiven", "corpus. Given"),
        ("\n\nhttps://github.com/allenai/scidocs … Figure 1: Overview of SPECTER.", ""),
        ("5 v = Transformer(input) [CLS] ,(1)", "v = Transformer(input)[CLS] (1)"),
        (
            "P Q , a positive paper P + and a negative paper P − .",
            "P^Q, a positive paper P^+ and a negative paper P^−.",
        ),
        ("cited by P + )", "cited by P^+)"),
        ("L = max d P Q , P + − d P Q , P − + m , 0 (2)", "L = max{(d(P^Q, P^+) − d(P^Q, P^−) + m), 0} (2)"),
        ("d(P A , P B ) = v A − v B 2 ,", "d(P^A, P^B) = ‖v_A − v_B‖_2,"),
        ("where v A is", "where v_A is"),
        ("papers P − is", "papers P^− is"),
        ("if P 1 cite − − → P and", "if P^1 cite→ P^2 and"),
        (
            "P 2 cite − − → P 3\n\nbut P 1 cite − − → P 3 , then P 3 is",
            "P^2 cite→ P^3 but P^1 cite↛ P^3, then P^3 is",
        ),
        ("example for P 1 .", "example for P^1."),
        ("(P @1)", "(P@1)"),
        ("∆= + 2.3", "∆ = +2.3"),
        ("## 2 Model 2.1 Overview", "## 2 Model\n\n### 2.1 Overview"),
        ("domain: MeSH Classification In", "domain:\n\n#### MeSH Classification\n\nIn"),
        ("Paper Topic Classification This", "#### Paper Topic Classification\n\nThis"),
        ("metrics. Direct Citations In", "metrics.\n\n#### Direct Citations\n\nIn"),
        ("Co-Citations This", "#### Co-Citations\n\nThis"),
        ("Co-Views Our", "#### Co-Views\n\nOur"),
        ("Co-Reads If", "#### Co-Reads\n\nIf"),
        ("Training Data To", "### Training Data\n\nTo"),
        ("Training and Implementation We", "### Training and Implementation\n\nWe"),
        ("Task-Specific Model Details For", "### Task-Specific Model Details\n\nFor"),
        ("Baseline Methods Our", "### Baseline Methods\n\nOur"),
        ("\n\n## 5 Results\n\nFor", "\n\nFor"),
        ("validation set. Table 1", "validation set.\n\n## 5 Results\n\nTable 1"),
        ("Ablation Study We", "### Ablation Study\n\nWe"),
        ("Visualization Figure", "### Visualization\n\nFigure"),
        (
            "Comparison with Task Specific Fine-Tuning While",
            "### Comparison with Task Specific Fine-Tuning\n\nWhile",
        ),
        ("Figure 1. In", "Figure 1.\n\nIn"),
        ("respectively. Our evaluation", "respectively.\n\nOur evaluation"),
        ("nDCG). Finally", "nDCG).\n\nFinally"),
        ("OpenReview). One", "OpenReview).\n\nOne"),
        ("\n\nA Appendix A … UKPLab/sentence-transformers", ""),
    ),
    "N18-3011": (
        ("MED-LINE", "MEDLINE"),
        ("Sci-enceParse", "ScienceParse"),
        ("mentionmention", "mention-mention"),
        ("handengineered", "hand-engineered"),
        ("metaanalysis", "meta-analysis"),
        ("drainage -a", "drainage - a"),
        ("finegrained", "fine-grained"),
        ("citationbased", "citation-based"),
        ("Xiong et al., Figure 1: Part of the literature graph. 2017)", "Xiong et al., 2017)"),
        (
            "CoNLL-2003and ACE-2005(e.g., Lample et al., 2016, and",
            "CoNLL-2003 and ACE-2005 (e.g., Lample et al., 2016), and",
        ),
        ("Collobert et al. 2011, we", "Collobert et al. (2011), we"),
        ("See and for", "See Peters et al. (2017) and Ammar et al. (2017) for"),
        ("\n\nWhat is the percentage", "\n\n- What is the percentage"),
        ("\n\nWhich of my", "\n- Which of my"),
        ("\n\nWhich papers", "\n- Which papers"),
        ("linking: I. Statistical", "linking:\n\n- I. Statistical"),
        ("\n\nII. Hybrid", "\n- II. Hybrid"),
        ("mentions. III. Off", "mentions.\n- III. Off"),
        ("KBs: UMLS", "KBs:\n\n- UMLS"),
        ("Medicine. DBpedia", "Medicine.\n- DBpedia"),
        (" Due to space constraints, we opted … in this draft.\n", "\n"),
        ("(RNNs). 2 For", "(RNNs). For"),
        ("library 3 to", "library to"),
        ("TagMe) 5 and", "TagMe) and"),
        ("Lite) 6 , with", "Lite), with"),
        ('\n\nWe also experimented with a "pure" … biomedical (Bio).', ""),
        ("model Description F1 … task 10. with", "model with"),
        ("(NELL) 7 and OpenIE 4, 8 we", "(NELL) and OpenIE 4, we"),
        ("described Table 4: … datasets.\n\nearlier", "described earlier"),
        ("ontologies. Limited", "ontologies.\n\nLimited"),
        ("paper\n\nVariants of this … linkage.\n\nis being", "paper is being"),
        ("papers, 10 meaningful", "papers, meaningful"),
        ("dataset, 11 models", "dataset, models"),
        ("extraction, 12 models", "extraction, models"),
        ("draft 13 and", "draft and"),
        ("metadata, 14 among", "metadata, among"),
        ("p 1 ! p 2 for each p 2 referenced in p 1 .", "p_1 → p_2 for each p_2 referenced in p_1."),
        ("where p 2 is referenced in p 1 )", "where p_2 is referenced in p_1)"),
        ("a ! p for", "a → p for"),
        (
            "m 1 and m 2 as two directed edges m 1 ! m 2 and m 2 ! m 1 .",
            "m_1 and m_2 as two directed edges m_1 → m_2 and m_2 → m_1.",
        ),
        (
            "range from . 0:5; 0:5/ at the top-left corner of the page to .0:5; 0:5/ at",
            "range from (−0.5, −0.5) at the top-left corner of the page to (0.5, 0.5) at",
        ),
        ("representation i k by", "representation i_k by"),
        (
            "and then\n\ng ! k D LSTM.Wi k ; g ! k 1 /; g k D OEg ! k I g k ; h ! k D LSTM.g k ; h ! k 1 /; "
            "h k D OEh ! k I g k",
            "and then fed into a two-layer bidirectional LSTM (Long Short-Term Memory, Hochreiter and "
            "Schmidhuber, 1997), i.e.,\n\ng→_k = LSTM(W i_k, g→_{k−1}), g_k = [g→_k; g←_k], "
            "h→_k = LSTM(g_k, h→_{k−1}), h_k = [h→_k; g←_k]",
        ),
        (
            "g ! k D LSTM.x k ; g ! k 1 /; g k D OEg ! k I g k ; h ! k D LSTM.OEg k I lm k ; h ! k 1 /; "
            "h k D OEh ! k I h k ;",
            "g→_k = LSTM(x_k, g→_{k−1}), g_k = [g→_k; g←_k], h→_k = LSTM([g_k; lm_k], h→_{k−1}), h_k = [h→_k; h←_k],",
        ),
        (
            "g k and h k are defined similarly to g ! k and h ! k",
            "g←_k and h←_k are defined similarly to g→_k and h→_k",
        ),
        ("direction. Similar to", "direction.\n\nSimilar to"),
        ("layer h k into", "layer h_k into"),
        ("t 1 ; : : : ; t N in", "t_1, …, t_N in"),
        (
            "x k D OEc k I w k for each token t k in the input sequence, where c k is",
            "x_k = [c_k; w_k] for each token t_k in the input sequence, where c_k is",
        ),
        ("and w k are", "and w_k are"),
        ("lm k D OElm ! k I lm k ,", "lm_k = [lm→_k; lm←_k],"),
        (
            "lm ! k is used to predict t kC1 and lm k is used to predict t k 1 .",
            "lm→_k is used to predict t_{k+1} and lm←_k is used to predict t_{k−1}.",
        ),
        (
            "Given the x k and lm k embeddings for each token k 2 f1; : : : ; N g,",
            "Given the x_k and lm_k embeddings for each token k ∈ {1, …, N},",
        ),
        ("with x k and lm k feeding", "with x_k and lm_k feeding"),
        ("embeddings lm k ,", "embeddings lm_k,"),
        (
            "f.m/ D OEv m.name I avg.v m.lc ; v m.rc /;\n\ng.e/ D OEv e.name I v e.def ; where",
            "f(m) = [v_m.name; avg(v_m.lc, v_m.rc)], g(e) = [v_e.name; v_e.def],\n\nwhere",
        ),
        ("v text is", "v_text is"),
        ("f.m/ and g.e/ and", "f(m) and g(e) and"),
        (
            '". . . database of facts, an ILP system will . . . "',
            '"... database of facts, an ILP system will ..."',
        ),
        ("annotation. Table 2", "annotation.\n\nTable 2"),
        ("each model. Three", "each model.\n\nThree"),
    ),
    PLOS_ARTICLE: (
        ("<1?show=[to]?>", ""),
        ("citation.cfmdoid1242572", "citation.cfm?doid=1242572"),
        ("wrapper.jsparnumber1416852", "wrapper.jsp?arnumber=1416852"),
        ("articlerender.fcgiartid1781113", "articlerender.fcgi?artid=1781113"),
        ("document.urlissn03029743volume3298spage350", "document.url?issn=03029743&volume=3298&spage=350"),
        ("scholar?q = mygrid", "scholar?q=mygrid"),
        ("scholarcites9856542662207029505", "scholar?cites=9856542662207029505"),
        ("display.cgiuids16845111", "display.cgi?uids=16845111"),
    ),
}

TABLE_HEAD = "| Title | Authors | DOI | Anthology id |\n|---|---|---|---|"
LICENCES = {
    CC_BY_4: "[CC BY 4.0](https://creativecommons.org/licenses/by/4.0/)",
    "CC BY": "Creative Commons Attribution, © 2008 Hull et al. The article says: “This is an open-access "
    "article distributed under the terms of the Creative Commons Attribution License, which permits "
    "unrestricted use, distribution, and reproduction in any medium, provided the original author and source "
    "are credited.”",
}
FROM_GROBID = (
    "converted to Markdown from GROBID's TEI of the published PDF. Figures, tables, footnotes{also} and the "
    "reference list are left out. Errors of extraction were put right against the PDF: words broken at a "
    "line's end, lost citations, run-in headings. Formulas are in plain text; quotation marks and some "
    "dashes are plain too, as GROBID gives them."
)
CHANGES = {
    "cohan-etal-2020-specter": FROM_GROBID.format(also=", acknowledgements, Appendix A"),
    "ammar-etal-2018-construction": FROM_GROBID.format(also=""),
    "hull-etal-2008-defrosting": "converted to Markdown from the publisher's JATS XML. The epigraph, Table "
    "1, the images and the reference list are left out (the numbers that point into it remain), emphasis is "
    "dropped, a colon follows each term of the glossary, an editor's mark is removed, and the “?”, "
    "“=” and “&” that the XML had lost from its web addresses are put back by their evident form.",
}
ATTRIBUTION = """\
# Where the demo library comes from

`carrel demo` opens a small library of real papers. They are the work of the authors named below, who have no
part in Carrel and do not endorse it. This file is written by `tools/build_demo_library.py`.

**References** (`refs.jsonl`): titles, authors, abstracts, venues and DOIs from the metadata of the
[ACL Anthology](https://aclanthology.org), taken from
[its repository](https://github.com/acl-org/acl-anthology) at commit
`70ba973519718ea45ae34b71ca63ab73f7253ba7`. What the ACL has published since 2016 is licensed under
[CC BY 4.0](https://creativecommons.org/licenses/by/4.0/). Changed: sixty papers were chosen, fields renamed,
names split into first and last, white space made uniform, tags added. The words of titles and abstracts are
as the Anthology gives them.

**Full texts** (`papers/`): three open-access papers, each under the licence given with it. The TEI of the two
Anthology papers comes from the tests of [s2orc-doc2json](https://github.com/allenai/s2orc-doc2json) at commit
`71c022ed4bed3ffc71d22c2ac5cdbc133ad04e3c`, the JATS of the PLOS article from the starter corpus of the PyPI
package allofplos 0.11.1.
"""


@dataclass(frozen=True)
class Paper:
    id: str
    title: str
    authors: tuple[str, ...]
    body: str
    year: int
    venue: str
    doi: str
    license: str
    source: str


Record = dict[str, Any]


def build(data: Path) -> None:
    records = read_anthology(data / ANTHOLOGY)
    papers = [read_tei(data, records[key]) for key in CORRECTIONS if key in records] + [read_plos(data)]
    references = [as_reference(records[key], tags) for key, tags in REFERENCES.items()]
    write(DEMO / "refs.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in references))
    for paper in papers:
        write(DEMO / "papers" / f"{paper.id}.md", as_markdown(paper))
    write(DEMO / "ATTRIBUTION.md", attribution(papers, [records[key] for key in REFERENCES]))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(text.encode()):>7} bytes  {path.relative_to(DEMO)}", file=sys.stderr)


def read_anthology(path: Path) -> dict[str, Record]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {record["_id"]: record for record in map(json.loads, lines)}


def as_reference(record: Record, tags: str) -> Record:
    return {
        "id": record["bibkey"],
        "doi": record["doi"] or "",
        "title": flat(record["title"]),
        "authors": [split_name(name) for name in record["authors"]],
        "abstract": flat(record["text"]),
        "venue": flat(record["booktitle"]),
        "published": {"year": record["year"]},
        "pdf_path": "",
        "source": {"type": "manual", "id": record["_id"]},
        "tags": tags.split(", "),
    }


def split_name(name: str) -> dict[str, str]:
    words = name.split()
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in PARTICLES:
        start -= 1
    return {"first": " ".join(words[:start]), "last": " ".join(words[start:])}


def flat(text: str) -> str:
    return " ".join(text.split())


def read_tei(data: Path, record: Record) -> Paper:
    key = record["_id"]
    root = ElementTree.parse(data / TEI_FOLDER / f"{key}.tei.xml").getroot()  # noqa: S314  our own data
    return Paper(
        id=record["bibkey"],
        title=flat(record["title"]),
        authors=tuple(record["authors"]),
        body=correct("\n\n".join(tei_blocks(root)), CORRECTIONS[key]),
        year=record["year"],
        venue=flat(record["booktitle"]),
        doi=record["doi"],
        license=CC_BY_4,
        source=f"https://aclanthology.org/{key}",
    )


def tei_blocks(root: Element) -> Iterator[str]:
    """Headings, paragraphs and formulas in reading order; figures, tables and footnotes are left out."""
    yield "## Abstract"
    yield all_text(child(root, f".//{TEI}abstract"))
    for block in root.iterfind(f".//{TEI}body/{TEI}div/*"):
        text = flat("".join(tei_text(block)))
        if block.tag == f"{TEI}head":
            number = block.get("n", "")
            level = 2 + number.count(".") if number else 4
            yield flat(f"{'#' * level} {number} {text}")
        elif text:
            yield re.sub(r";(?=[A-Z])", "; ", text)


def tei_text(element: Element) -> Iterator[str]:
    # GROBID takes some footnote numbers for citations.
    if not (element.tag == f"{TEI}ref" and re.fullmatch(r"\d\d?", element.text or "")):
        yield element.text or ""
    for part in element:
        yield from tei_text(part)
        yield part.tail or ""


def read_plos(data: Path) -> Paper:
    root = ElementTree.fromstring(read_member(data / PLOS_ARCHIVE, PLOS_ARTICLE))  # noqa: S314  our own data
    meta = child(root, "front/article-meta")
    doi = all_text(child(meta, "article-id[@pub-id-type='doi']"))
    return Paper(
        id="hull-etal-2008-defrosting",
        title=all_text(child(meta, "title-group/article-title")),
        authors=tuple(person(name) for name in meta.iterfind(".//contrib[@contrib-type='author']/name")),
        body=correct("\n\n".join(jats_blocks(root)), CORRECTIONS[PLOS_ARTICLE]),
        year=int(all_text(child(meta, "pub-date/year"))),
        venue=all_text(child(root, "front/journal-meta//journal-title")),
        doi=doi,
        license="CC BY",
        source=f"https://doi.org/{doi}",
    )


def read_member(path: Path, name: str) -> bytes:
    with tarfile.open(path) as archive:
        member = next(member for member in archive if member.name.endswith(name))
        content = archive.extractfile(member)
        if content is None:
            raise ValueError(f"{member.name!r} in {path} is not a file")
        return content.read()


def person(name: Element) -> str:
    return f"{all_text(child(name, 'given-names'))} {all_text(child(name, 'surname'))}"


def jats_blocks(root: Element) -> Iterator[str]:
    yield "## Abstract"
    yield all_text(child(root, "front/article-meta/abstract"))
    yield from section_blocks(child(root, "body"), level=1)


def section_blocks(section: Element, *, level: int) -> Iterator[str]:
    """The text of a section and of those within it; tables and the epigraph are left out."""
    for block in section:
        match block.tag:
            case "title" if all_text(block):
                yield f"{'#' * level} {all_text(block)}"
            case "p":
                yield all_text(block)
            case "list":
                yield "\n".join(f"{n}. {all_text(item)}" for n, item in enumerate(block, start=1))
            case "fig":
                yield f"{all_text(child(block, 'label'))}. {all_text(child(block, 'caption'))}"
            case "sec":
                # A section without a title only groups those within it.
                yield from section_blocks(block, level=level + bool(all_text(child(block, "title"))))
            case "boxed-text":
                yield from glossary(child(block, "sec"))


def glossary(box: Element) -> Iterator[str]:
    yield f"## {all_text(child(box, 'title'))}"
    introduction, *entries = box.findall("p")
    yield all_text(introduction)
    yield "\n".join(f"- {definition(entry)}" for entry in entries)


def definition(entry: Element) -> str:
    term = all_text(entry[0])
    return f"{term}: {all_text(entry).removeprefix(term).strip()}"


def child(element: Element, path: str) -> Element:
    found = element.find(path)
    if found is None:
        raise ValueError(f"no {path!r} in <{element.tag}>")
    return found


def all_text(element: Element) -> str:
    return flat("".join(element.itertext()))


def correct(body: str, corrections: Sequence[tuple[str, str]]) -> str:
    for wrong, right in corrections:
        pattern = ".*?".join(re.escape(part) for part in wrong.split(GAP))
        body, found = re.subn(pattern, right, body, flags=re.DOTALL)
        if not found:
            raise ValueError(f"a correction finds nothing: {wrong!r}")
    return body


def as_markdown(paper: Paper) -> str:
    front = "\n".join(front_matter(paper))
    return f"---\n{front}\n---\n\n# {paper.title}\n\n{paper.body}\n"


def front_matter(paper: Paper) -> Iterator[str]:
    yield f"id: {paper.id}"
    yield f"title: {quoted(paper.title)}"
    yield "authors:"
    yield from (f"  - {quoted(author)}" for author in paper.authors)
    yield f"year: {paper.year}"
    yield f"venue: {quoted(paper.venue)}"
    yield f"doi: {paper.doi}"
    yield f"license: {paper.license}"
    yield f"source: {paper.source}"


def quoted(text: str) -> str:
    # A JSON string is a YAML string, whatever colons and quotes it holds.
    return json.dumps(text, ensure_ascii=False)


def attribution(papers: Iterable[Paper], records: Iterable[Record]) -> str:
    texts = "\n\n".join(credit(paper) for paper in papers)
    rows = "\n".join(
        f"| {cell(record['title'])} | {cell(', '.join(record['authors']))} | {record['doi'] or ''} | "
        f"[{record['_id']}](https://aclanthology.org/{record['_id']}) |"
        for record in records
    )
    return f"{ATTRIBUTION}\n## Full texts\n\n{texts}\n\n## References\n\n{TABLE_HEAD}\n{rows}\n"


def credit(paper: Paper) -> str:
    return "\n".join(
        (
            f"### {paper.title}",
            "",
            f"- File: `papers/{paper.id}.md`",
            f"- Authors: {', '.join(paper.authors)}",
            f"- Published in: {paper.venue}, {paper.year}",
            f"- DOI: [{paper.doi}](https://doi.org/{paper.doi})",
            f"- Source: {paper.source}",
            f"- Licence: {LICENCES[paper.license]}",
            f"- Changed: {CHANGES[paper.id]}",
        )
    )


def cell(text: str) -> str:
    return flat(text).replace("|", "\\|")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/build_demo_library.py DATA_DIRECTORY")
    build(Path(sys.argv[1]))
