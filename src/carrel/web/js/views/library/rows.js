// A line of the table, and its head.
import { html } from "../../dom.js";
import { address } from "../../api.js";
import { count, plural, shortAuthors } from "../../wording.js";
import { Icon } from "../../parts/icons.js";
import { Byline, Notice, PaperLink } from "../../parts/papers.js";
import { sortBy } from "./wanted.js";

const TAGS = 2;

/** What there is of a paper, in a word. */
export function held({ parts, chunkCount }) {
  if (parts.includes("body")) return "Full text";
  return parts.includes("abstract") || chunkCount > 0 ? "Abstract" : "Record only";
}

export const Head = ({ wanted, all }) => html`
  <div class="library-head" role="rowgroup">
    <div class="library-row is-head" role="row">
      <span role="columnheader" class="library-tick"><${All} all=${all} /></span>
      <${Heading} sort="title" wanted=${wanted}>Paper<//>
      <${Heading} sort="year" wanted=${wanted} class="library-year">Year<//>
      <span role="columnheader" class="library-where">Venue</span>
      <span role="columnheader" class="library-tagged">Tags</span>
      <span role="columnheader" class="library-held">Holds</span>
      <${Heading} sort="added" wanted=${wanted} class="library-state">Added<//>
    </div>
  </div>`;

function Heading({ sort, wanted, children, class: name = "" }) {
  const isSorted = wanted.sort === sort;
  const direction = wanted.order === "asc" ? "ascending" : "descending";
  return html`
    <span role="columnheader" class=${name} aria-sort=${isSorted ? direction : "none"}>
      <button class="library-heading" onClick=${() => sortBy(sort, wanted)}>
        ${children}<span class=${isSorted ? `library-arrow is-${direction}` : "library-arrow"}><${Icon} name="down" size="12" /></span>
      </button>
    </span>`;
}

const All = ({ all }) => html`
  <input type="checkbox" aria-label=${all.label} title=${all.label} checked=${all.isChosen} disabled=${all.isDisabled} onChange=${all.choose} />`;

/** One paper; without one, where it will be. */
export function Row({ index, paper, isCurrent, isChosen, choose, enter }) {
  if (!paper) return html`<div class="library-row is-awaited" role="row" aria-rowindex=${index + 2}><span role="cell"><i></i><i></i></span></div>`;
  const names = ["library-row", isCurrent && "is-current", isChosen && "is-chosen"].filter(Boolean).join(" ");
  return html`
    <div class=${names} role="row" aria-rowindex=${index + 2} data-index=${index} onFocusIn=${enter}>
      <span role="cell" class="library-tick">
        <input type="checkbox" aria-label=${`Select ${paper.title || paper.id}`} checked=${isChosen} onChange=${choose} />
      </span>
      <span role="cell" class="library-paper">
        <span class="library-title"><${Notice} notice=${paper.notice} /><${PaperLink} id=${paper.id} title=${paper.title} /></span>
        <span class="library-by"><${Byline} authors=${paper.authors} authorCount=${paper.authorCount} /><${Shortly} paper=${paper} /></span>
      </span>
      <span role="cell" class="library-year">${paper.year ?? ""}</span>
      <span role="cell" class="library-where" title=${paper.venue}><bdi>${paper.venue}</bdi></span>
      <span role="cell" class="library-tagged"><${Tags} paper=${paper} /></span>
      <span role="cell" class="library-held">${held(paper)}${paper.figureCount > 0 && html`<br />${plural(paper.figureCount, "figure")}`}</span>
      <span role="cell" class="library-state"><${State} paper=${paper} /></span>
    </div>`;
}

/** On a phone the second line says what elsewhere has columns. */
const Shortly = ({ paper }) => html`
  <span class="library-shortly">
    ${paper.authors.length > 0 && html`<bdi>${shortAuthors(paper.authors)}</bdi>`}${paper.year && html`<span>${paper.year}</span>`}<span>${held(paper)}</span>
    ${paper.figureCount > 0 && html`<span>${plural(paper.figureCount, "figure")}</span>`}
    ${!paper.indexed && html`<span class="library-waits">Waiting</span>`}
  </span>`;

const Tags = ({ paper: { tags, tagCount } }) => html`
  ${tags.slice(0, TAGS).map((tag) => html`<a key=${tag} class="chip" href=${address("/library", { tag })} title=${tag}><bdi>${tag}</bdi></a>`)}
  ${tagCount > TAGS && html`<span class="faint small" title=${tags.slice(TAGS).join(", ")}>+${count(tagCount - TAGS)}</span>`}`;

const State = ({ paper }) => (paper.indexed
  ? html`<span class="library-ready"><${Icon} name="check" size="14" />Indexed</span>`
  : html`<span class="library-waits" title="'carrel index build' indexes what waits">Waiting</span>`);
