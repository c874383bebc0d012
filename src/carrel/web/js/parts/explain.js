// Why a passage is where it is: what each stage of the search said of it.
import { html } from "../dom.js";
import { inPath } from "../api.js";

/** The arms of a search: what finds, and what is lost without it. */
export const ARMS = {
  vector: { name: "Meaning", lost: "meaning", score: (number) => `similarity ${number.toFixed(3)}` },
  keyword: { name: "Words", lost: "words", score: (number) => `BM25 ${number.toFixed(2)}` },
  graph: { name: "Graph", lost: "the graph", score: (number) => `weight ${number.toFixed(3)}` },
  feedback: { name: "Second look", lost: "a second look", score: (number) => `similarity ${number.toFixed(3)}` },
  rerank: { name: "Reranker", lost: "reranking" },
  understanding: { name: "Understanding", lost: "understanding the query" },
};
const nameOf = (arm) => ARMS[arm]?.name ?? arm;
const scoreOf = (arm, score) => ARMS[arm]?.score?.(score) ?? score.toFixed(3);

/** The whole ledger of a hit that was asked for with `explain`. */
export function Ledger({ hit }) {
  if (!Object.keys(hit.arms).length) return html`<p class="ledger-word">Listed for what its record says; nothing was searched for.</p>`;
  return html`
    <dl class="ledger">
      <${Row} name="Found by"><${Arms} arms=${hit.arms} /><//>
      ${hit.fusionShares && html`<${Row} name="Fused"><${Shares} shares=${hit.fusionShares} whole=${hit.fusionScore} /><//>`}
      <${Row} name="Reranked"><${Reranked} hit=${hit} /><//>
      ${hit.path && html`<${Row} name="Graph"><${Chain} path=${hit.path} /><//>`}
    </dl>`;
}

const Row = ({ name, children }) => html`<div class="ledger-row"><dt>${name}</dt><dd>${children}</dd></div>`;

const Arms = ({ arms }) => html`
  <ul class="ledger-arms">
    ${Object.entries(arms).map(([arm, { rank, score }]) => html`
      <li key=${arm}><span class=${`swatch is-${arm}`}></span>${nameOf(arm)} <strong>#${rank}</strong> <span class="faint">${scoreOf(arm, score)}</span></li>`)}
  </ul>`;

/** What each arm gave, as a bar; what an arm took away is told beside it. */
function Shares({ shares, whole }) {
  const given = Object.entries(shares).filter(([, share]) => share > 0);
  const taken = Object.entries(shares).filter(([, share]) => share < 0);
  const sum = given.reduce((total, [, share]) => total + share, 0);
  const said = (arm, share) => `${nameOf(arm)} ${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(2)}`;
  const label = [...given, ...taken].map(([arm, share]) => said(arm, share)).join(", ") || "no arm gave anything";
  return html`
    ${sum > 0 && html`
      <div class="shares" role="img" aria-label=${`Shares: ${label}`}>
        ${given.map(([arm, share]) => html`<span key=${arm} class=${`share is-${arm}`} style=${{ width: `${(100 * share) / sum}%` }}></span>`)}
      </div>`}
    <span class="ledger-word">${label}${whole !== undefined && whole !== null && html` <span class="faint">= ${whole.toFixed(2)}</span>`}</span>`;
}

function Reranked({ hit }) {
  const signals = hit.signals ? signalsInWords(hit.signals) : [];
  return html`
    <span class="ledger-word">${hit.probability === null ? "Not reranked." : html`<strong>${percent(hit.probability)}</strong> likely to be what is asked for`}</span>
    ${signals.length > 0 && html`<ul class="signals">${signals.map((signal, index) => html`<li key=${index}>${signal}</li>`)}</ul>`}`;
}

const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
const part = (share) => (share >= 0.995 ? "all" : share <= 0.005 ? "none" : percent(share));
const usual = (number) => `${Math.abs(number).toFixed(1)} deviations ${number < 0 ? "below" : "above"} the usual`;

const WORDED = {
  similarity: (value) => `Its meaning is ${value.toFixed(2)} similar to the query`,
  similarity_z: (value) => `That similarity is ${usual(value)}`,
  feedback_z: (value) => `Beside what was found first, its similarity is ${usual(value)}`,
  words_z: (value) => `The weight of the words it shares with the query is ${usual(value)}`,
  graph_z: (value) => `What the graph gives it is ${usual(value)}`,
  coverage: (value) => `Of the query's words, ${part(value)} stand close together in it`,
  coverage_ahead: (value) => Math.abs(value) > 0.005
    && `That is ${percent(Math.abs(value))} ${value > 0 ? "more" : "fewer"} than in the paper's other passages`,
  heading: (value) => `Of the query's words, ${part(value)} stand in its title and headings`,
  bridge: (value) => `Raised by ${value.toFixed(2)}: a surer passage names what it is about`,
};

/** What the reranker went by, a sentence each, in the order in which they lead to each other. */
function signalsInWords(signals) {
  const told = Object.keys(WORDED).filter((name) => name in signals).map((name) => WORDED[name](signals[name]));
  const others = Object.keys(signals).filter((name) => !Object.hasOwn(WORDED, name));
  return [...told.filter(Boolean), ...others.map((name) => `${name} ${Number(signals[name]).toFixed(3)}`)];
}

const SAID = {
  PREREQUISITE: ["comes before", "needs"],
  RELATED_TO: ["is related to", "is related to"],
  COMPARED_TO: ["is compared to", "is compared to"],
  PART_OF: ["is part of", "has as a part"],
  USES: ["uses", "is used by"],
  IMPLEMENTS: ["implements", "is implemented by"],
  EXAMPLE_OF: ["is an example of", "has as an example"],
};
const HERE = {
  MENTIONS: "is mentioned here",
  DISCUSSES: "is discussed here",
  CODE_EXAMPLE_FOR: "has its code here",
  FORMULA_FOR: "has its formula here",
};

/** How the graph leads from the query, or from a surer passage, to this one. */
const Chain = ({ path }) => html`
  <p class="chain">
    ${path.source
      ? html`<a class="chain-place" href=${`/proof/${inPath(path.source)}`}>a surer passage</a> names`
      : "The query names"}
    ${" "}<${Concept} name=${path.start} />
    ${path.links.map((link, index) => html`<${Step} key=${index} link=${link} />`)}
    ${", which "}${HERE[path.role] ?? "is here"}.
  </p>`;

const Step = ({ link }) => html`
  ${link.predicate
    ? html` <span class="chain-word">${SAID[link.predicate]?.[link.forward ? 0 : 1] ?? link.predicate}</span> `
    : html` <a class="chain-place" href=${`/proof/${inPath(link.address ?? "")}`}>stands beside</a> `}
  <${Concept} name=${link.concept} />`;

const Concept = ({ name }) => html`<a class="chip" href=${`/graph?name=${encodeURIComponent(name)}`}><bdi>${name}</bdi></a>`;
