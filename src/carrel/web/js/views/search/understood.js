// What was made of the query, what could not do its part, and how long it took.
import { html, useState } from "../../dom.js";
import { goWith } from "../../router.js";
import { Icon } from "../../parts/icons.js";
import { ARMS } from "../../parts/explain.js";
import { milliseconds, plural } from "../../wording.js";

const SURPRISING = new Set(["spelling", "acronym", "field"]);
const languages = new Intl.DisplayNames("en", { type: "language" });

/** Each step in words; nothing where there is nothing to tell. */
const STEPS = {
  spelling: ({ from, to }) => html`<s>${from}</s> ${to}`,
  acronym: ({ from, to }) => html`${from} = ${to}`,
  field: ({ from, to }) => (to.startsWith("no ") ? html`${from}: ${to}` : to),
  phrase: ({ from, to }) => html`${from} ${to}`,
  language: ({ to }) => (to && to !== "en" ? `in ${languageName(to)}` : null),
};

function languageName(code) {
  try {
    return languages.of(code) ?? code;
  } catch {
    return code;
  }
}

/** The query with what was changed of it in quotation marks: so it is taken as it stands. */
function exactly(query, understood) {
  const changed = new Set(understood.filter(({ kind }) => SURPRISING.has(kind)).map(({ from }) => from));
  let exact = query;
  for (const from of changed) {
    const at = exact.toLowerCase().indexOf(from.toLowerCase());
    if (at >= 0) exact = `${exact.slice(0, at)}"${exact.slice(at, at + from.length)}"${exact.slice(at + from.length)}`;
  }
  return exact === query ? null : exact;
}

export function Understood({ query, understood }) {
  const told = understood.map((step) => ({ ...step, said: STEPS[step.kind]?.(step) })).filter(({ said }) => said);
  const exact = exactly(query, understood);
  if (!told.length) return null;
  return html`
    <div class="understood">
      <span class="faint">Understood</span>
      ${told.map(({ kind, said }, index) => html`<span class="chip" key=${index} title=${kind}><bdi>${said}</bdi></span>`)}
      ${exact && html`<button class="plain-link" onClick=${() => goWith({ q: exact })}>Search for exactly what I typed</button>`}
    </div>`;
}

export const Degraded = ({ degraded }) => degraded.length > 0 && html`
  <p class="degraded" role="note">
    <${Icon} name="warning" size="16" />
    <span>${degraded.map(({ arm, reason }) => `Without ${ARMS[arm]?.lost ?? arm} this time: ${reason.replace(/\.$/, "")}.`).join(" ")}</span>
  </p>`;

const STAGES = {
  understanding: "Understanding", vector: "Meaning", keyword: "Words", graph: "Graph", fusion: "Fusion", feedback: "Second look",
  catalog: "Texts", rerank: "Reranking", bridges: "Bridges", arrange: "Arranging", total: "In all",
};

/** How many there are and, on demand, how they were found. */
export function Account({ found, shown, children }) {
  const [isOpen, setOpen] = useState(false);
  return html`
    <div class="account">
      <p class="account-line">
        <span role="status">${said(found, shown)}</span>
        <button class="plain-link" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${milliseconds(found.timings.total ?? 0)}</button>
        ${children}
      </p>
      ${isOpen && html`<${Ways} found=${found} />`}
    </div>`;
}

function said(found, shown) {
  const what = found.byPaper ? "paper" : "passage";
  const matched = found.matched ? ` · ${plural(found.matched, "has", "have")} a word of it` : "";
  return `${plural(shown, what)} shown${matched}`;
}

const Ways = ({ found }) => html`
  <dl class="ways">
    ${Object.entries(found.timings).map(([stage, time]) => html`
      <div key=${stage}><dt>${STAGES[stage] ?? stage}</dt><dd>${time.toFixed(1)} ms</dd>
        <dd class="faint">${found.counts?.[stage] !== undefined && plural(found.counts[stage], "candidate")}</dd></div>`)}
    ${found.concepts?.length > 0 && html`
      <div class="is-wide"><dt>Concepts</dt><dd>${found.concepts.map(({ concept }, index) => html`
        <a class="chip" key=${index} href=${`/graph?name=${encodeURIComponent(concept)}`}><bdi>${concept}</bdi></a>`)}</dd></div>`}
    ${found.noConcepts && html`<div class="is-wide"><dt>Concepts</dt><dd>${found.noConcepts}</dd></div>`}
  </dl>`;
