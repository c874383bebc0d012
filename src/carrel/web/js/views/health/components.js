// What the library works with, each put to work.
import { html } from "../../dom.js";
import { milliseconds } from "../../wording.js";

export const NAMES = {
  embedder: "Embedder", catalog: "Catalog", vectors: "Vectors", keywords: "Words", graph: "Graph", reranker: "Reranker", generator: "Generator",
  jobs: "Jobs",
};
const latency = (time) => (time < 1 ? "< 1 ms" : milliseconds(time));

export const Components = ({ components }) => html`
  <section aria-labelledby="health-parts">
    <h2 class="section-title" id="health-parts">Parts</h2>
    <ul class="parts">
      ${Object.entries(components).map(([name, part]) => html`
        <li key=${name} class=${part.healthy ? "part" : "part is-broken"} data-part=${name}>
          <span class="dot" aria-hidden="true"></span>
          <span class="part-name">${NAMES[name] ?? name}<span class="unseen">${part.healthy ? " works" : " does not work"}</span></span>
          <span class="part-word"><bdi>${part.message}</bdi></span>
          <span class="part-time">${latency(part.latencyMs)}</span>
        </li>`)}
    </ul>
  </section>`;
