// Search: one box, and all that the papers say of what is written in it.
import { html, useState } from "../dom.js";
import { useMedia } from "../asking.js";
import { goWith } from "../router.js";
import { Icon } from "../parts/icons.js";
import { Box } from "./search/box.js";
import { Chosen } from "./search/chosen.js";
import { Figures } from "./search/figures.js";
import { Filters } from "./search/filters.js";
import { useChapters } from "./search/pages.js";
import { Papers } from "./search/papers.js";
import { Passages } from "./search/passages.js";
import { applies, isNarrowed, MODES, TABS, wantedOf } from "./search/wanted.js";

const TAB_VIEWS = { passages: Passages, papers: Papers, figures: Figures };

export function View({ place }) {
  const wanted = wantedOf(place.query);
  const chapters = useChapters(applies(wanted, "chapter") ? wanted.paper : []);
  const isWide = useMedia("(min-width: 1180px)");
  const [isOpen, setOpen] = useState(false);
  const Tab = TAB_VIEWS[wanted.tab];
  return html`
    <div class="search">
      <h1 class="unseen">Search</h1>
      <div class="search-column">
        <${Box} query=${wanted.query} down=${chooseFirst} />
        <div class="search-tools">
          <${Switch} label="What to find" choices=${TABS} chosen=${wanted.tab} choose=${(tab) => goWith({ tab: tab === "passages" ? "" : tab, figure: "" })} />
          ${applies(wanted, "mode") && html`
            <${Switch} label="How to find it" choices=${MODES} chosen=${wanted.mode} choose=${(mode) => goWith({ mode: mode === "hybrid" ? "" : mode })} />`}
          ${!isWide && html`
            <button class="button is-quiet filters-button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
              <${Icon} name="filter" size="18" />Filters</button>`}
        </div>
        ${!isWide && isOpen && html`<${Filters} wanted=${wanted} chapters=${chapters} />`}
        <${Chosen} wanted=${wanted} chapters=${chapters} />
        ${wanted.query ? html`<${Tab} key=${wanted.tab} wanted=${wanted} />` : html`<${Beginning} isNarrowed=${isNarrowed(wanted)} />`}
      </div>
      ${isWide && html`<aside class="search-rail"><${Filters} wanted=${wanted} chapters=${chapters} /></aside>`}
    </div>`;
}

function chooseFirst() {
  const first = document.querySelector(".hits article, .figures button");
  first?.focus();
  return Boolean(first);
}

const Switch = ({ label, choices, chosen, choose }) => html`
  <div class="segments" role="group" aria-label=${label}>
    ${Object.entries(choices).map(([value, name]) => html`
      <button class="segment" key=${value} aria-pressed=${value === chosen} onClick=${() => choose(value)}>${name}</button>`)}
  </div>`;

const HINTS = [
  ["dense retrieval", "words or a question: what is meant is found, too"],
  ["“open domain”", "in quotation marks: exactly this"],
  ["author:Yu year:2016-2019", "who, when, where: author, title, venue, tag, year"],
];

const Beginning = ({ isNarrowed: hasFilters }) => html`
  <div class="state">
    <h2 class="state-title">${hasFilters ? "What are you looking for there?" : "What are you looking for?"}</h2>
    <dl class="hints">${HINTS.map(([example, meaning]) => html`<div key=${example}><dt><kbd>${example}</kbd></dt><dd>${meaning}</dd></div>`)}</dl>
  </div>`;
