// Where an answer may come from: papers, tags, years.
import { html, useId, useState } from "../../dom.js";
import { get } from "../../api.js";
import { useAsked, useSettled } from "../../asking.js";
import { plural } from "../../wording.js";

const NAMES = ["paper", "tag", "yearMin", "yearMax"];
const YEARS = [["yearMin", "From"], ["yearMax", "Until"]];
const year = (text) => (/^\d{1,4}$/.test(text ?? "") ? Number(text) : null);

/** As it stands in an address; only what restricts. */
export function whereOf(query) {
  const years = Object.fromEntries(YEARS.map(([name]) => [name, year(query.get(name))]));
  const where = { paper: query.getAll("paper"), tag: query.getAll("tag"), ...years };
  return Object.fromEntries(NAMES.filter((name) => where[name] !== null && where[name].length !== 0).map((name) => [name, where[name]]));
}

/** Each restriction with its words, and what is left `without` it. */
export function chosen(where = {}) {
  const lists = ["paper", "tag"].flatMap((kind) => (where[kind] ?? []).map((one) => ({
    name: `${kind === "paper" ? "Paper" : "Tag"}: ${one}`, without: { ...where, [kind]: where[kind].filter((other) => other !== one) },
  })));
  const years = YEARS.filter(([key]) => where[key] !== undefined)
    .map(([key, word]) => ({ name: `${word} ${where[key]}`, without: { ...where, [key]: null } }));
  return [...lists, ...years];
}

/** What the reader restricts the next answer to. */
export function Chosen({ where, setWhere }) {
  const only = chosen(where);
  return only.length > 0 && html`
    <p class="composer-chosen">
      <span>Only</span>
      ${only.map(({ name, without }) => html`
        <button type="button" class="chip is-on" key=${name} aria-label=${`Remove ${name}`} onClick=${() => setWhere(without)}><bdi>${name}</bdi> ×</button>`)}
    </p>`;
}

export function Places({ where, setWhere }) {
  const change = (name) => (event) => setWhere({ ...where, [name]: year(event.target.value.trim()) });
  const add = (kind) => (value) => setWhere({ ...where, [kind]: [...new Set([...(where[kind] ?? []), value])] });
  return html`
    <div class="composer-places">
      <${Adding} label="Paper" placeholder="Title or id" add=${add("paper")} suggest=${papers} />
      <${Adding} label="Tag" placeholder="Any of these" add=${add("tag")} suggest=${tags} />
      ${YEARS.map(([name, word]) => html`
        <label key=${name}>
          <span class="label">${word} year</span>
          <input class="field" inputmode="numeric" maxlength="4" value=${where[name] ?? ""} onChange=${change(name)} />
        </label>`)}
    </div>`;
}

const papers = async (words, signal) =>
  (await get("/api/papers", { query: words, limit: 8 }, { signal })).papers.map(({ id, title }) => ({ value: id, label: title }));
const tags = async (words, signal) =>
  (await get("/api/tags", { limit: 100 }, { signal })).tags.filter(({ tag }) => tag.includes(words))
    .slice(0, 20).map(({ tag, papers: number }) => ({ value: tag, label: plural(number, "paper") }));

/** Chosen from what there is, or written out and sent off by Enter. */
function Adding({ label, placeholder, add, suggest }) {
  const [words, setWords] = useState("");
  const settled = useSettled(words.trim());
  const { data } = useAsked((signal) => suggest(settled, signal), [settled]);
  const list = useId();
  const take = (value) => { if (value.trim()) { add(value.trim()); setWords(""); } };
  const write = (event) => {
    setWords(event.target.value);
    if (event.inputType === "insertReplacementText" || !event.inputType) take(event.target.value);
  };
  const key = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    take(words);
  };
  return html`
    <label>
      <span class="label">${label}</span>
      <input class="field" list=${list} maxlength="500" placeholder=${placeholder} value=${words} onInput=${write} onKeyDown=${key} autocomplete="off" />
    </label>
    <datalist id=${list}>${(data ?? []).map((one) => html`<option key=${one.value} value=${one.value}>${one.label}</option>`)}</datalist>`;
}
