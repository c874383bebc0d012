// The text of a paper, a chapter at a time.
import { html, useEffect, useRef, useState } from "../../dom.js";
import { get, inPath } from "../../api.js";
import { useAsked, useMedia } from "../../asking.js";
import { beneath, useKeys } from "../../keys.js";
import { go, placed } from "../../router.js";
import { Icon } from "../../parts/icons.js";
import { paperAddress, placeIn } from "../../parts/papers.js";
import { Asked, Empty } from "../../parts/states.js";
import { FigureGrid } from "./figures.js";
import { Prose } from "./prose.js";

// Passages that are read at once: a longer chapter is read by sections, a longer section piece by piece.
const LONG = 60;
const PIECE = 20;

/** What is read at once, in order: `{ address, chapter, section, chunkCount, figures }`. */
function unitsOf({ chapters }) {
  return chapters.flatMap((chapter) => (chapter.chunkCount <= LONG
    ? [{ ...chapter, number: chapter.chapter }]
    : chapter.sections.map((section) => ({ ...section, number: chapter.chapter, chapterTitle: chapter.chapterTitle, figures: [] }))));
}

function unitAt(units, hash) {
  const [, chapter, section] = /^ch(\d+)(?:\/s(\d+))?/.exec(hash);
  const fitting = units.filter((unit) => unit.number === Number(chapter));
  return fitting.find((unit) => unit.section === Number(section ?? -1)) ?? fitting[0];
}

export function Reader({ paper, hash }) {
  const units = unitsOf(paper);
  const unit = unitAt(units, hash);
  const isWide = useMedia("(min-width: 1001px)");
  const at = units.indexOf(unit);
  const to = (step) => {
    // Keys may come faster than chapters are drawn.
    const target = units[units.indexOf(unitAt(units, placed().hash)) + step];
    if (target) go(paperAddress(paper.id, placeIn(target.address, paper.id)));
  };
  useKeys(beneath({ j: () => to(1), k: () => to(-1), Escape: () => go(paperAddress(paper.id)) }), [hash]);
  const contents = html`<${Contents} paper=${paper} unit=${unit} hash=${hash} />`;
  return html`
    <header class="reader-head">
      <a class="paper-up" href=${paperAddress(paper.id)}><${Icon} name="left" size="14" />Overview</a>
      <h1 class="reader-paper"><bdi>${paper.title || paper.id}</bdi></h1>
    </header>
    <div class="paper-columns is-reading">
      <div class="paper-main">
        ${!isWide && html`<details class="reader-contents"><summary>Contents</summary>${contents}</details>`}
        ${unit
          ? html`<${Unit} key=${unit.address} paper=${paper} unit=${unit} hash=${hash} /><${Turn} paper=${paper} before=${units[at - 1]} after=${units[at + 1]} />`
          : html`<${Empty} title="There is no such chapter"><p>This paper has the chapters at its <a href=${paperAddress(paper.id)}>overview</a>.</p><//>`}
      </div>
      ${isWide && html`<aside class="paper-aside">${contents}</aside>`}
    </div>`;
}

const nameOf = (unit) => unit.sectionTitle || unit.chapterTitle || "Text";

const Turn = ({ paper, before, after }) => html`
  <nav class="reader-turn" aria-label="Chapters">
    ${before ? html`<a href=${paperAddress(paper.id, placeIn(before.address, paper.id))}><${Icon} name="left" size="14" /><bdi>${nameOf(before)}</bdi></a>` : html`<span></span>`}
    ${after && html`<a href=${paperAddress(paper.id, placeIn(after.address, paper.id))}><bdi>${nameOf(after)}</bdi><${Icon} name="right" size="14" /></a>`}
  </nav>`;

function Contents({ paper, unit, hash }) {
  const element = useRef(null);
  useEffect(() => element.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), [hash]);
  const link = (one, name) => {
    const place = placeIn(one.address, paper.id);
    return html`<a href=${paperAddress(paper.id, place)} aria-current=${place === hash ? "location" : null}><bdi>${name}</bdi></a>`;
  };
  return html`
    <nav class="contents" aria-label="Contents" ref=${element}>
      <ol>
        ${paper.chapters.map((chapter) => html`
          <li key=${chapter.address}>
            ${link(chapter, chapter.chapterTitle || "Text")}
            ${chapter.chapter === unit?.number && html`
              <ol>${chapter.sections.filter((one) => one.sectionTitle).map((section) => html`<li key=${section.address}>${link(section, section.sectionTitle)}</li>`)}</ol>`}
          </li>`)}
      </ol>
    </nav>`;
}

function Unit({ paper, unit, hash }) {
  const isLong = unit.chunkCount > LONG;
  const asked = useAsked((signal) => (isLong ? unit : get(`/api/chunks/${inPath(unit.address)}`, {}, { signal })), [unit.address]);
  useArriving(paper, hash, asked.data);
  return html`
    <section class="reading" aria-label=${nameOf(unit)}>
      <h2 class="reading-title"><bdi>${unit.chapterTitle || "Text"}</bdi></h2>
      <${Asked} asked=${asked} lines="12">
        ${(found) => html`
          ${isLong ? html`<${LongSection} paper=${paper} unit=${unit} />` : sectionsOf(found).map((section) => html`<${Section} key=${section.address} paper=${paper} section=${section} />`)}
          ${found.figures.length > 0 && html`<h3 class="section-title">Figures and tables</h3><${FigureGrid} paper=${paper} addresses=${found.figures} />`}`}
      <//>
    </section>`;
}

const sectionsOf = (found) => (found.kind === "chapter" ? found.sections : [found]);

/** Once the text is there, to the place that is asked for; the paper's first line of a chapter is its top. */
function useArriving(paper, hash, isThere) {
  useEffect(() => {
    if (!isThere) return;
    const target = document.getElementById(hash);
    if (target && hash.includes("/")) target.scrollIntoView();
    else scrollTo(0, 0);
  }, [hash, Boolean(isThere)]);
}

function Section({ paper, section }) {
  let page = null;
  return html`
    <section class="reading-section" id=${placeIn(section.address, paper.id)}>
      ${section.sectionTitle && html`<h3 class="reading-section-title"><bdi>${section.sectionTitle}</bdi></h3>`}
      ${section.chunks.map((chunk) => {
        const isNew = chunk.pageStart !== null && chunk.pageStart !== page;
        page = chunk.pageEnd ?? page;
        return html`<${Passage} key=${chunk.address} paper=${paper} chunk=${chunk} page=${isNew ? chunk.pageStart : null} />`;
      })}
    </section>`;
}

const Passage = ({ paper, chunk, page }) => html`
  <div class="passage" id=${placeIn(chunk.address, paper.id)}>
    <a class=${page ? "passage-mark has-page" : "passage-mark"} href=${`/proof/${inPath(chunk.address)}`} aria-label=${page ? `Page ${page}, to the proof` : "To the proof"}>${page ? `p. ${page}` : "¶"}</a>
    <${Prose} text=${chunk.text} />
  </div>`;

/** A section without end, as of a text without headings: some of it, and more when asked for. */
function LongSection({ paper, unit }) {
  const [count, setCount] = useState(PIECE);
  const asked = useAsked((signal) => Promise.all(
    Array.from({ length: Math.min(count, unit.chunkCount) }, (_, number) => chunkAt(`${unit.address}/p${number}`, signal)),
  ), [count]);
  return html`
    <${Asked} asked=${asked} lines="12">
      ${(chunks) => html`
        <${Section} paper=${paper} section=${{ ...unit, chunks }} />
        ${chunks.length < unit.chunkCount && html`<button class="button" disabled=${asked.loading} onClick=${() => setCount(count + PIECE)}>Read on</button>`}`}
    <//>`;
}

const read = new Map();

async function chunkAt(address, signal) {
  if (!read.has(address)) read.set(address, await get(`/api/chunks/${inPath(address)}`, {}, { signal }));
  return read.get(address);
}
