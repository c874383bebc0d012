// The paper before it is read: abstract, outline, figures, and how it stands among others.
import { html, useState } from "../../dom.js";
import { address, get, inPath } from "../../api.js";
import { useAsked } from "../../asking.js";
import { count, plural } from "../../wording.js";
import { Icon } from "../../parts/icons.js";
import { Byline, PaperLink, paperAddress, placeIn } from "../../parts/papers.js";
import { Asked } from "../../parts/states.js";
import { Citations } from "./citations.js";
import { Figures } from "./figures.js";
import { Holdings } from "./heading.js";

const MANY_CHAPTERS = 40;

export const Overview = ({ paper }) => html`
  <div class="paper-columns">
    <div class="paper-main">
      ${paper.abstract && html`<section aria-label="Abstract"><h2 class="section-title">Abstract</h2><p class="paper-abstract"><bdi>${paper.abstract}</bdi></p></section>`}
      ${!paper.abstract && !paper.chapters.length && html`
        <p class="faint">Only the record of this paper is here. Add its PDF or text to read, search and ask it.</p>`}
      <${Outline} paper=${paper} />
      <${Figures} paper=${paper} />
      <${Citations} paper=${paper} />
    </div>
    <aside class="paper-aside">
      <section><h2 class="section-title">What is here</h2><${Holdings} paper=${paper} /></section>
      <${Concepts} concepts=${paper.concepts} />
      <${Similar} paper=${paper} />
    </aside>
  </div>`;

const counts = ({ chunkCount, figureCount }) =>
  [plural(chunkCount, "passage"), figureCount > 0 && plural(figureCount, "figure")].filter(Boolean).join(", ");

function Outline({ paper }) {
  const [all, setAll] = useState(false);
  if (!paper.chapters.length) return null;
  const shown = all ? paper.chapters : paper.chapters.slice(0, MANY_CHAPTERS);
  return html`
    <section aria-label="Contents">
      <h2 class="section-title">Contents</h2>
      <ol class="outline">
        ${shown.map((chapter) => html`<${ChapterLine} key=${chapter.address} paper=${paper} chapter=${chapter} />`)}
      </ol>
      ${shown.length < paper.chapters.length && html`<button class="button" onClick=${() => setAll(true)}>All ${count(paper.chapters.length)} chapters</button>`}
      ${paper.sectionsLeftOut > 0 && html`<p class="faint small">${plural(paper.sectionsLeftOut, "further section")} of this very long paper can be searched, and read passage by passage.</p>`}
    </section>`;
}

function ChapterLine({ paper, chapter }) {
  const sections = chapter.sections.filter((section) => section.sectionTitle);
  const [isOpen, setOpen] = useState(false);
  const first = chapter.sections.find((section) => section.summary)?.summary;
  return html`
    <li class="outline-chapter">
      <div class="outline-line">
        <a href=${paperAddress(paper.id, placeIn(chapter.address, paper.id))}><bdi>${chapter.chapterTitle || "Text"}</bdi></a>
        <span class="outline-count">${counts(chapter)}</span>
        ${sections.length > 0 && html`
          <button class="outline-more" aria-expanded=${isOpen} aria-label=${`Sections of ${chapter.chapterTitle || "the text"}`} onClick=${() => setOpen(!isOpen)}>
            ${plural(sections.length, "section")}<span class=${isOpen ? "outline-arrow is-open" : "outline-arrow"}><${Icon} name="down" size="12" /></span>
          </button>`}
      </div>
      ${first && html`<p class="outline-first"><bdi>${first}</bdi></p>`}
      ${isOpen && html`
        <ol class="outline-sections">
          ${sections.map((section) => html`
            <li key=${section.address}>
              <div class="outline-line"><a href=${paperAddress(paper.id, placeIn(section.address, paper.id))}><bdi>${section.sectionTitle}</bdi></a><span class="outline-count">${counts(section)}</span></div>
              ${section.summary && html`<p class="outline-first"><bdi>${section.summary}</bdi></p>`}
            </li>`)}
        </ol>`}
    </li>`;
}

const Concepts = ({ concepts }) => concepts?.length > 0 && html`
  <section><h2 class="section-title">Concepts</h2>
    <p class="paper-concepts">${concepts.map((name) => html`<a key=${name} class="chip" href=${address("/graph", { name })}><bdi>${name}</bdi></a>`)}</p>
  </section>`;

/** Found by the abstracts of records: a paper that came as a text alone has none that could be compared. */
function Similar({ paper }) {
  const canBeCompared = paper.parts.includes("abstract") && Boolean(paper.abstract) && paper.indexed;
  const asked = useAsked((signal) => (canBeCompared ? get(`/api/similar/${inPath(paper.id)}`, { limit: 6 }, { signal }) : null), [paper.id, canBeCompared]);
  const why = paper.listed ? "and this record has none" : "where this one is not listed";
  const reason = asked.problem?.message ?? (paper.indexed ? `Papers are compared by the abstracts in refs.jsonl, ${why}.` : "It has to be indexed first.");
  return html`
    <section aria-label="Similar papers"><h2 class="section-title">Similar papers</h2>
      ${!canBeCompared || (asked.problem && !asked.data)
        ? html`<p class="faint small">${reason}</p>`
        : html`<${Asked} asked=${asked} lines="3">${({ similar }) => (similar.length
          ? html`<ul class="paper-near">${similar.map((one) => html`
              <li key=${one.id}><${PaperLink} id=${one.id} title=${one.title} /><${Byline} authors=${one.authors.slice(0, 2)} year=${one.year} /></li>`)}</ul>`
          : html`<p class="faint small">None is near.</p>`)}<//>`}
    </section>`;
}
