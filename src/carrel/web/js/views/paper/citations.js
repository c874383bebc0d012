// How a paper stands among others.
import { html, useState } from "../../dom.js";
import { get, inPath } from "../../api.js";
import { useAsked } from "../../asking.js";
import { count, plural } from "../../wording.js";
import { Byline, DoiLink, PaperLink } from "../../parts/papers.js";
import { Asked } from "../../parts/states.js";

const FEW_WORKS = 8;

/** Both ways: what it cites, and who in the library cites it. */
export function Citations({ paper }) {
  const asked = useAsked((signal) => get(`/api/citations/${inPath(paper.id)}`, {}, { signal }), [paper.id]);
  return html`
    <${Asked} asked=${asked} lines="3">
      ${(found) => html`
        ${found.citing > 0 && html`<${Citing} paper=${paper} first=${found} />`}
        ${found.cited > 0 && html`<${Cited} paper=${paper} first=${found} />`}`}
    <//>`;
}

/** A list that goes on: `[items, more]`; `more` is null at its end. */
function useMore(first, next, items, fetch) {
  const [pages, setPages] = useState([]);
  const last = pages.at(-1) ?? first;
  const [isBusy, setBusy] = useState(false);
  const more = last[next] && (async () => {
    setBusy(true);
    await fetch(last[next]).then((page) => setPages([...pages, page]), () => {});
    setBusy(false);
  });
  return [[first, ...pages].flatMap((page) => page[items]), isBusy ? null : more];
}

function Citing({ paper, first }) {
  const [papers, more] = useMore(first, "nextCiting", "citedBy", (citing) => get(`/api/citations/${inPath(paper.id)}`, { citing }));
  return html`
    <section aria-label="Cited by">
      <h2 class="section-title">Cited by ${plural(first.citing, "paper")} of the library</h2>
      <ul class="works">${papers.map((one) => html`<li key=${one.paperId}><${PaperLink} id=${one.paperId} title=${one.title} /> <${Byline} authors=${one.authors.slice(0, 3)} year=${one.year} /></li>`)}</ul>
      ${more && html`<button class="button" onClick=${more}>More</button>`}
    </section>`;
}

/** Those that are here first. */
function Cited({ paper, first }) {
  const [works, more] = useMore(first, "nextCursor", "cites", (cursor) => get(`/api/citations/${inPath(paper.id)}`, { cursor }));
  const [all, setAll] = useState(false);
  const here = works.filter((work) => work.paperId);
  const others = works.filter((work) => !work.paperId);
  const shown = [...here, ...(all ? others : others.slice(0, Math.max(0, FEW_WORKS - here.length)))];
  return html`
    <section aria-label="Cites">
      <h2 class="section-title">Cites ${plural(first.cited, "work")}, ${count(first.inLibrary)} of them here</h2>
      <ol class="works">
        ${shown.map((work) => html`
          <li key=${work.position} class=${work.paperId ? "is-here" : ""}>
            ${work.paperId ? html`<${PaperLink} id=${work.paperId} title=${work.title || work.text} /> <span class="faint">${work.year}</span>` : html`<bdi>${work.text}</bdi>`} <${DoiLink} doi=${work.doi} />
          </li>`)}
      </ol>
      ${shown.length < works.length && html`<button class="button" onClick=${() => setAll(true)}>${count(works.length - shown.length)} more</button>`}
      ${all && more && html`<button class="button" onClick=${more}>More</button>`}
    </section>`;
}
