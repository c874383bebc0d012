// Health: whether everything works, what is being taken in, and how the library is used.
import { html } from "../dom.js";
import { get } from "../api.js";
import { useAsked, useEvery } from "../asking.js";
import { count } from "../wording.js";
import { Asked } from "../parts/states.js";
import { Components } from "./health/components.js";
import { Jobs } from "./health/jobs.js";
import { Queries } from "./health/queries.js";
import { State } from "./health/state.js";

const OFTEN = 5000;

export function View({ place }) {
  // A part that does not work is told with status 503, and is an answer all the same.
  const health = useAsked((until) => get("/api/health", {}, { signal: until, also: [503] }), []);
  const status = useAsked((until) => get("/api/status", {}, { signal: until }), []);
  useEvery(OFTEN, () => { health.again(); status.again(); });
  return html`
    <div class="health">
      <h1>Health</h1>
      <${Asked} asked=${quiet(health)} lines="3">${(told) => html`<${State} health=${told} status=${status.data} problem=${status.problem} />`}<//>
      ${status.data && html`<${Counts} status=${status.data} />`}
      ${health.data && html`<${Components} components=${health.data.components} />`}
      ${status.data && html`<${Made} status=${status.data} />`}
      <${Jobs} />
      <${Queries} days=${place.query.get("days")} />
    </div>`;
}

/** While what was last heard is shown, the shell tells that the server is away. */
const quiet = (asked) => (asked.data && asked.problem?.isOffline ? { ...asked, problem: null } : asked);

const Counts = ({ status }) => html`
  <dl class="counts">
    ${[
      [status.papers, "paper"], [status.chunks, "passage"], [status.figures, "figure"], [status.concepts, "concept"],
    ].map(([number, name]) => html`
      <div key=${name}><dt>${number === 1 ? name : `${name}s`}</dt><dd>${number === null ? "–" : count(number)}</dd></div>`)}
  </dl>`;

const MODELS = { embedder: "Embedder", reranker: "Reranker", generator: "Generator" };
const STORES = { catalog: "Catalog", vectors: "Vectors", keywords: "Words", graph: "Graph" };
const size = (bytes) => (bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${count(Math.round(bytes / 1e6))} MB`);

const Made = ({ status }) => html`
  <section aria-labelledby="health-made">
    <h2 class="section-title" id="health-made">Models and stores</h2>
    <div class="made">
      <${Names} names=${MODELS} values=${status.models} />
      <${Names} names=${STORES} values=${status.stores} />
      <dl class="names">
        <div><dt>Library</dt><dd><bdi>${status.library}</bdi></dd></div>
        <div><dt>Index</dt><dd>${size(status.indexSizeBytes)}</dd></div>
        <div><dt>Release</dt><dd>${status.release}</dd></div>
      </dl>
    </div>
  </section>`;

const Names = ({ names, values }) => html`
  <dl class="names">${Object.entries(names).map(([key, name]) => html`<div key=${key}><dt>${name}</dt><dd><bdi>${values[key]}</bdi></dd></div>`)}</dl>`;
