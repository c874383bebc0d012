// Nothing was found: why, and what would loosen it.
import { html } from "../../dom.js";
import { goWith } from "../../router.js";
import { EVERYWHERE, isNarrowed } from "./wanted.js";

export function Nothing({ wanted, found, what = "passage" }) {
  const bare = withoutFields(wanted.query, found.understood ?? []);
  return html`
    <div class="state" role="status">
      <h2 class="state-title">No ${what} for <q><bdi>${wanted.query}</bdi></q></h2>
      <p>${reason(wanted, found)}</p>
      <p class="loosen">
        ${isNarrowed(wanted) && html`<button class="button" onClick=${() => goWith(EVERYWHERE)}>Drop the filters</button>`}
        ${bare && html`<button class="button" onClick=${() => goWith({ q: bare })}>Search for <bdi>${bare}</bdi></button>`}
        ${found.mode && wanted.mode !== "hybrid" && html`<button class="button" onClick=${() => goWith({ mode: "" })}>Search by all means</button>`}
        <a class="button" href=${`/ask?q=${encodeURIComponent(wanted.query)}`}>Ask this</a>
      </p>
    </div>`;
}

function reason(wanted, found) {
  const unmet = (found.understood ?? []).find(({ kind, to }) => kind === "field" && to.startsWith("no "));
  if (unmet) return `No paper of the library is ${unmet.from}.`;
  if (isNarrowed(wanted)) return "Nothing that the filters leave speaks of it.";
  if (wanted.mode === "graph") return sentence(found.noConcepts ?? "The graph leads nowhere from here");
  if (wanted.mode === "keyword") return "No passage has any of these words.";
  if (found.degraded?.length) return "A part of the search did not work; what it would have found is not here.";
  return "The library has nothing near it yet. Add papers, or say it in other words.";
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;

/** The query without the fields that no paper meets; nothing if that is all there was. */
function withoutFields(query, understood) {
  const fields = understood.filter(({ kind }) => kind === "field").map(({ from }) => from);
  if (!fields.length) return "";
  return fields.reduce((text, field) => text.replace(field, " "), query).replace(/\s+/g, " ").trim();
}
