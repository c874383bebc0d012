// Which papers are listed: words, venue, years, tags.
import { html, useEffect, useState } from "../../dom.js";
import { get } from "../../api.js";
import { useAsked, useMedia, useSettled } from "../../asking.js";
import { count } from "../../wording.js";
import { Icon } from "../../parts/icons.js";
import { sortIn, toggleTag, useParameter } from "./wanted.js";

const FEW_TAGS = 7;
const ORDERS = {
  "added desc": "Latest added first", "added asc": "Earliest added first", "year desc": "Newest first", "year asc": "Oldest first",
  "title asc": "Title, A to Z", "title desc": "Title, Z to A",
};

export function Filters({ place, wanted }) {
  const isNarrow = useMedia("(max-width: 640px)");
  const further = [wanted.venue, wanted.yearMin, wanted.yearMax, ...wanted.tag].filter((one) => one !== "").length;
  const [isOpen, setOpen] = useState(further > 0);
  const shown = !isNarrow || isOpen;
  return html`
    <search class="library-filters" aria-label="Filter">
      <div class="library-filter-line">
        <${WordsField} place=${place} />
        ${isNarrow && html`
          <button class="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
            <${Icon} name="filter" size="18" />Filters${further > 0 && html` <span class="library-count">${further}</span>`}
          </button>`}
        ${shown && html`<${VenueField} place=${place} /><${YearFields} place=${place} />`}
        ${isNarrow && shown && html`<${SortField} wanted=${wanted} />`}
      </div>
      ${shown && html`<${TagFilter} wanted=${wanted} />`}
    </search>`;
}

function WordsField({ place }) {
  const [text, setText] = useParameter(place, "q");
  return html`
    <input class="field library-words" type="search" data-primary placeholder="Filter by title or author" aria-label="Filter by title, author or id"
      maxlength="500" value=${text} onInput=${(event) => setText(event.target.value)}
      onKeyDown=${(event) => (event.key === "Enter" || (event.key === "Escape" && !text)) && event.target.blur()} />`;
}

function VenueField({ place }) {
  const [text, setText] = useParameter(place, "venue");
  const sought = useSettled(text);
  const [isUsed, setUsed] = useState(false);
  const venues = useAsked((signal) => (isUsed ? get("/api/venues", { query: sought, limit: 20 }, { signal }) : null), [sought, isUsed]);
  return html`
    <input class="field library-venue" type="search" list="library-venues" placeholder="Any venue" aria-label="Venue" maxlength="500"
      value=${text} onFocus=${() => setUsed(true)} onInput=${(event) => setText(event.target.value)} />
    <datalist id="library-venues">${venues.data?.venues.map(({ venue }) => html`<option key=${venue} value=${venue} />`)}</datalist>`;
}

const YearFields = ({ place }) => html`
  <span class="library-years" role="group" aria-label="Years">
    <${YearField} place=${place} name="from" label="From year" placeholder="From" />
    <span class="faint" aria-hidden="true">–</span>
    <${YearField} place=${place} name="to" label="To year" placeholder="To" />
  </span>`;

function YearField({ place, name, label, placeholder }) {
  const [text, setText] = useParameter(place, name);
  return html`
    <input class="field" inputmode="numeric" pattern="[0-9]{1,4}" maxlength="4" aria-label=${label} placeholder=${placeholder}
      value=${text} onInput=${(event) => setText(event.target.value.replace(/\D/g, ""))} />`;
}

/** Where there are no column headings to sort by. */
function SortField({ wanted }) {
  const choose = (event) => {
    const [sort, order] = event.target.value.split(" ");
    sortIn(sort, order);
  };
  return html`
    <select class="field library-sort" aria-label="Sort by" value=${`${wanted.sort} ${wanted.order}`} onChange=${choose}>
      ${Object.entries(ORDERS).map(([value, name]) => html`<option key=${value} value=${value}>${name}</option>`)}
    </select>`;
}

function TagFilter({ wanted }) {
  const [all, setAll] = useState(false);
  const tags = useAsked((signal) => get("/api/tags", { limit: 100 }, { signal }), []);
  useEffect(() => {
    addEventListener("carrel:changed", tags.again);
    return () => removeEventListener("carrel:changed", tags.again);
  }, []);
  const known = tags.data?.tags ?? [];
  const chosen = wanted.tag.map((tag) => known.find((one) => one.tag === tag) ?? { tag });
  const others = known.filter(({ tag }) => !wanted.tag.includes(tag));
  const shown = all ? others : others.slice(0, Math.max(0, FEW_TAGS - chosen.length));
  if (!chosen.length && !others.length) return null;
  return html`
    <div class="library-tags" role="group" aria-label="Tags">
      ${[...chosen, ...shown].map(({ tag, papers }) => html`
        <button key=${tag} class="chip" aria-pressed=${wanted.tag.includes(tag)} onClick=${() => toggleTag(tag, wanted)}>
          <bdi>${tag}</bdi>${papers && html`<span class="library-count">${count(papers)}</span>`}
        </button>`)}
      ${others.length > shown.length && html`<button class="chip is-more" onClick=${() => setAll(true)}>${others.length - shown.length} more</button>`}
      ${all && html`<button class="chip is-more" onClick=${() => setAll(false)}>Fewer</button>`}
    </div>`;
}
