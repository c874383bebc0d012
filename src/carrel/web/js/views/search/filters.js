// What a search is narrowed by.
import { html, useEffect, useState } from "../../dom.js";
import { get } from "../../api.js";
import { useAsked, useSettled } from "../../asking.js";
import { goWith } from "../../router.js";
import { applies } from "./wanted.js";
import { PaperPicker } from "./picker.js";

const FEW = 10;
const narrow = (changes) => goWith({ ...changes, figure: "" });

export function Filters({ wanted, chapters }) {
  const shows = (name) => applies(wanted, name);
  return html`
    <div class="filters" role="group" aria-label="Filters">
      <fieldset class="filter">
        <legend class="label">Years</legend>
        <div class="years"><${Year} name="yearMin" label="From year" hint="from" value=${wanted.yearMin} /><${Year} name="yearMax" label="To year" hint="to" value=${wanted.yearMax} /></div>
      </fieldset>
      ${shows("venue") && html`<${Venue} value=${wanted.venue} />`}
      <${Tags} chosen=${wanted.tag} />
      ${shows("paper") && html`<${PaperPicker} chosen=${wanted.paper} choose=${(id) => narrow({ paper: [...wanted.paper, id], chapter: "", section: "" })} />`}
      ${shows("chapter") && chapters.length > 0 && html`<${Sections} wanted=${wanted} chapters=${chapters} />`}
      ${shows("byPaper") && html`
        <label class="switch"><input type="checkbox" checked=${wanted.byPaper} onChange=${(event) => narrow({ byPaper: event.target.checked })} />One result a paper</label>`}
    </div>`;
}

const Year = ({ name, label, hint, value }) => html`
  <input class="field" type="number" inputmode="numeric" min="-9999" max="9999" step="1" aria-label=${label} placeholder=${hint} value=${value}
    onChange=${(event) => event.target.validity.valid && narrow({ [name]: event.target.value })} />`;

function Venue({ value }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const settled = useSettled(typed);
  const venues = useAsked((until) => get("/api/venues", { query: settled, limit: 30 }, { signal: until }), [settled]);
  const names = venues.data?.venues.map(({ venue }) => venue) ?? [];
  const write = (text) => {
    setTyped(text);
    if (names.includes(text)) narrow({ venue: text });
  };
  return html`
    <div class="filter">
      <label class="label" for="search-venue">Venue</label>
      <input class="field" id="search-venue" list="search-venues" autocomplete="off" placeholder="any, or a part of its name" value=${typed}
        onInput=${(event) => write(event.target.value)} onChange=${(event) => narrow({ venue: event.target.value.trim() })} />
      <datalist id="search-venues">${names.map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
    </div>`;
}

function Tags({ chosen }) {
  const [areAll, setAll] = useState(false);
  const asked = useAsked((until) => get("/api/tags", { limit: 100 }, { signal: until }), []);
  const tags = asked.data?.tags ?? [];
  const shown = areAll ? tags : tags.filter(({ tag }, index) => index < FEW || chosen.includes(tag));
  if (!tags.length) return null;
  const toggle = (tag) => narrow({ tag: chosen.includes(tag) ? chosen.filter((one) => one !== tag) : [...chosen, tag] });
  return html`
    <fieldset class="filter">
      <legend class="label">Tags</legend>
      <div class="filter-tags">
        ${shown.map(({ tag, papers }) => html`
          <button class="chip" key=${tag} aria-pressed=${chosen.includes(tag)} title=${`${papers} papers`} onClick=${() => toggle(tag)}><bdi>${tag}</bdi></button>`)}
        ${tags.length > FEW && html`<button class="plain-link" aria-expanded=${areAll} onClick=${() => setAll(!areAll)}>${areAll ? "fewer" : `all ${tags.length}`}</button>`}
      </div>
    </fieldset>`;
}

const titled = (number, title, otherwise) => title || `${otherwise} ${number}`;

/** Chapters and sections of the one paper that is searched. */
function Sections({ wanted, chapters }) {
  const chapter = chapters.find((one) => String(one.chapter) === wanted.chapter);
  const sections = chapter?.sections.filter((one) => one.section > 0) ?? [];
  return html`
    <div class="filter">
      <label class="label" for="search-chapter">Section</label>
      <select class="field" id="search-chapter" value=${wanted.chapter} onChange=${(event) => narrow({ chapter: event.target.value, section: "" })}>
        <option value="">the whole paper</option>
        ${chapters.map((one) => html`<option key=${one.chapter} value=${String(one.chapter)}>${titled(one.chapter, one.chapterTitle, "Chapter")}</option>`)}
      </select>
      ${sections.length > 0 && html`
        <select class="field" aria-label="Subsection" value=${wanted.section} onChange=${(event) => narrow({ section: event.target.value })}>
          <option value="">all of it</option>
          ${sections.map((one) => html`<option key=${one.section} value=${String(one.section)}>${titled(one.section, one.sectionTitle, "Section")}</option>`)}
        </select>`}
    </div>`;
}
