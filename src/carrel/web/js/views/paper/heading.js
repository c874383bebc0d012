// What a paper is called, by whom it is, and what can be done with it.
import { html, useState } from "../../dom.js";
import { address, inPath } from "../../api.js";
import { count, plural } from "../../wording.js";
import { ExportDialog } from "../../parts/exporting.js";
import { Icon } from "../../parts/icons.js";
import { Byline, DoiLink, Notice } from "../../parts/papers.js";
import { leaving, propose, useSignal } from "../../parts/removing.js";

const MANY = 12;

export function Heading({ paper, pages }) {
  return html`
    <header class="paper-head">
      <a class="paper-up" href="/library"><${Icon} name="left" size="14" />Library</a>
      <h1><bdi>${paper.title || paper.id}</bdi></h1>
      <${Authors} authors=${paper.authors} number=${paper.authorCount} />
      <p class="paper-facts">
        ${(paper.venue || paper.year) && html`<${Byline} venue=${paper.venue} year=${paper.year} />`}<${DoiLink} doi=${paper.doi} /><span class="paper-id" title="Its id">${paper.id}</span>
      </p>
      <${Warnings} paper=${paper} />
      ${paper.tags.length > 0 && html`
        <p class="paper-tags">${paper.tags.map((tag) => html`<a key=${tag} class="chip" href=${address("/library", { tag })}><bdi>${tag}</bdi></a>`)}</p>`}
      <${Work} paper=${paper} pages=${pages} />
    </header>`;
}

/** The first of many, and the others when asked for; of very many the server names some. */
function Authors({ authors, number }) {
  const [all, setAll] = useState(authors.length <= MANY);
  if (!authors.length) return null;
  const shown = all ? authors : authors.slice(0, MANY);
  const others = `and ${count(number - shown.length)} others`;
  return html`
    <p class="paper-authors"><bdi>${shown.join(", ")}</bdi>
      ${!all && html` <button class="linklike" onClick=${() => setAll(true)}>${others}</button>`}
      ${all && number > shown.length && ` ${others}`}
    </p>`;
}

const NAMES = {
  retraction: "Retracted", "expression of concern": "Expression of concern", correction: "Corrected", reinstatement: "Reinstated",
};

const GRAVE = ["retraction", "expression of concern"];

/** What became of it, who says so, and what its reader should know. */
function Warnings({ paper: { notice, flags, remarks } }) {
  if (!notice && !flags.length && !remarks.length) return null;
  const isGrave = GRAVE.includes(flags.at(-1)?.notice);
  return html`
    <div class=${isGrave ? "paper-warnings is-grave" : "paper-warnings"} role="note">
      <${Notice} notice=${notice} />
      <ul>
        ${flags.map((flag, index) => html`
          <li key=${index}>${NAMES[flag.notice] ?? flag.notice}${flag.date && ` on ${flag.date}`}, says ${flag.source}${flag.reason && `: ${flag.reason}`} <${DoiLink} doi=${flag.doi} /></li>`)}
        ${remarks.map((remark) => html`<li key=${remark}>${remark}</li>`)}
      </ul>
    </div>`;
}

function Work({ paper, pages }) {
  const [isCiting, setCiting] = useState(false);
  const isLeaving = useSignal(leaving).has(paper.id);
  return html`
    <div class="paper-work">
      <a class="button is-main" href=${address("/ask", { paper: paper.id })}><${Icon} name="ask" size="18" />Ask about this paper</a>
      <a class="button" href=${address("/search", { paper: paper.id })}><${Icon} name="search" size="18" />Search in it</a>
      ${pages && html`<a class="button" href=${`/proof/${inPath(pages.first)}`}><${Icon} name="page" size="18" />Pages</a>`}
      <button class="button" onClick=${() => setCiting(true)}><${Icon} name="copy" size="18" />Cite</button>
      <button class="button is-quiet is-danger" disabled=${isLeaving} onClick=${() => propose([paper])}><${Icon} name="trash" size="18" />Remove</button>
      ${isCiting && html`<${ExportDialog} ids=${[paper.id]} close=${() => setCiting(false)} />`}
    </div>`;
}

/** What there is of it, in numbers. */
export function Holdings({ paper }) {
  const { cited, inLibrary } = paper.bibliography;
  const facts = [
    paper.parts.includes("body") ? "Full text" : paper.abstract ? "Abstract only" : "Record only",
    paper.chunkCount > 0 && plural(paper.chunkCount, "passage"),
    paper.figureCount > 0 && plural(paper.figureCount, "figure or table", "figures and tables"),
    cited > 0 && `Cites ${plural(cited, "work")}, ${count(inLibrary)} of them here`,
    paper.listed && "Listed in refs.jsonl",
    paper.indexed ? "Indexed" : "Waits to be indexed",
  ];
  return html`<ul class="paper-holdings">${facts.filter(Boolean).map((fact) => html`<li key=${fact}>${fact}</li>`)}</ul>`;
}
