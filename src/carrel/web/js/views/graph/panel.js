// What is told of what is chosen: a concept, a relation, or the whole map.
import { html, useState } from "../../dom.js";
import { address } from "../../api.js";
import { useAsked } from "../../asking.js";
import { goWith } from "../../router.js";
import { Icon } from "../../parts/icons.js";
import { PaperLink } from "../../parts/papers.js";
import { Asked } from "../../parts/states.js";
import { count, plural } from "../../wording.js";
import { byImportance, spoken } from "./model.js";
import { Place, Sentence } from "./places.js";
import { colour, phrase } from "./predicates.js";
import { neighbourhood } from "./state.js";

export const choose = (name) => goWith({ selected: name, edge: null, path: null });
export const chooseLink = (subject, object) => goWith({ edge: [subject, object] });
export const expand = (open, name) => goWith({ open: [...new Set([...open, name])], selected: name, edge: null, path: null });

/** A concept's name that leads to it. */
const Named = ({ name }) => html`<button class="graph-named" onClick=${() => choose(name)}><bdi>${name}</bdi></button>`;

/** The first few, and the others when they are asked for. */
function Several({ title, items, few = 5, row }) {
  const [isWhole, setWhole] = useState(false);
  if (!items.length) return null;
  const left = items.length - few;
  return html`
    <section>
      <h2 class="section-title">${title}</h2>
      <ul class="graph-several">${(isWhole ? items : items.slice(0, few)).map((item, index) => html`<li key=${index}>${row(item)}</li>`)}</ul>
      ${!isWhole && left > 0 && html`
        <button class="graph-more" onClick=${() => setWhole(true)}>${left === 1 ? "One more" : `${count(left)} more`}</button>`}
    </section>`;
}

export function ConceptPanel({ name, graph, state }) {
  const asked = useAsked(() => neighbourhood(name), [name]);
  return html`
    <${Asked} asked=${asked} lines="7">
      ${(around) => html`<${Concept} key=${around.concept.key} concept=${around.concept} around=${around} graph=${graph} state=${state} />`}
    <//>`;
}

function Concept({ concept, around, graph, state }) {
  const hidden = around.nodes.filter((node) => !graph.nodes.has(node.key)).length;
  const isCentre = concept.key === graph.centre;
  return html`
    <h1><bdi>${concept.name}</bdi></h1>
    <${Facts} concept=${concept} />
    ${concept.definition && html`<${Definition} text=${concept.definition} where=${concept.definedIn} />`}
    <${Doings} name=${concept.name} hidden=${hidden} isCentre=${isCentre} open=${state.open} />
    ${concept.relations.length === 0 && html`<p class="graph-nothing">No sentence says how it stands to another concept.</p>`}
    <${Several} title="Relations" items=${concept.relations} few=${8}
      row=${(relation) => html`<${Relation} name=${concept.name} ...${relation} />`} />
    <${Several} title="Where to read" items=${concept.discussed} few=${3} row=${(where) => html`<${Place} where=${where} />`} />
    <${Several} title="Papers that speak of it" items=${concept.speakers} few=${4} row=${(paper) => html`<${Speaker} ...${paper} />`} />
    ${concept.beside.length > 0 && html`<${Beside} names=${concept.beside} />`}`;
}

function Facts({ concept: { aliases, category, chunks, curated, ...rest } }) {
  const passages = chunks > 0 ? `, ${plural(chunks, "passage")}${curated ? ", yours" : ""}` : "";
  return html`
    ${aliases.length > 0 && html`
      <p class="faint small">also ${aliases.map((alias, index) => html`${index > 0 && ", "}<bdi key=${index}>${alias}</bdi>`)}</p>`}
    <p class="faint small">${category && html`<bdi>${category}</bdi>, `}${spoken({ curated, ...rest })}${passages}</p>`;
}

/** Marks of emphasis that the source has are no words. */
const unmarked = (text) => text.replace(/(\*\*|__)(?=\S)(.+?)(?<=\S)\1/g, "$2");

const Definition = ({ text, where }) => html`
  <figure class="graph-definition">
    <blockquote dir="auto">${unmarked(text)}</blockquote>
    ${where && html`<figcaption><${Place} where=${where} /></figcaption>`}
  </figure>`;

const Doings = ({ name, hidden, isCentre, open }) => html`
  <div class="graph-doings">
    ${hidden > 0 && html`
      <button class="button is-main" onClick=${() => expand(open, name)}><${Icon} name="add" size="17" />Expand: ${count(hidden)} more</button>`}
    <button class="button" onClick=${() => goWith({ selected: name, path: "1", edge: null })}><${Icon} name="path" size="17" />Study path</button>
    ${!isCentre && html`<a class="button" href=${address("/graph", { name })}>Centre here</a>`}
    <a class="button" href=${address("/search", { q: name })}>Search for it</a>
    <a class="button" href=${address("/ask", { q: `What is ${name}?` })}>Ask about it</a>
  </div>`;

const Words = ({ predicate, children }) => html`
  <span class="graph-relation-words" style=${{ color: colour(predicate) }}>${children}</span>`;

const Relation = ({ name, predicate, phrase: words, other, statements }) => html`
  <p class="graph-relation">
    <${Words} predicate=${predicate}>${words}<//> <${Named} name=${other} />
    <button class="graph-said" aria-label=${`Sentences: ${name} ${words} ${other}`} onClick=${() => chooseLink(name, other)}>
      ${plural(statements, "sentence")}
    </button>
  </p>`;

const Speaker = ({ paperId, title, year, chunks }) => html`
  <${PaperLink} id=${paperId} title=${title} /> <span class="faint small">${year && `${year}, `}${plural(chunks, "passage")}</span>`;

const Beside = ({ names }) => html`
  <section>
    <h2 class="section-title">Spoken of beside it</h2>
    <p class="graph-chips">
      ${names.map((name) => html`<button class="chip" key=${name} onClick=${() => choose(name)}><bdi>${name}</bdi></button>`)}
    </p>
  </section>`;

/** All that is said of two concepts, with the sentences that say it, whether it is drawn or not. */
export function LinkPanel({ link, names }) {
  const asked = useAsked(() => link ?? neighbourhood(names[0]).then(({ concept }) => ({ relations: between(concept, names[1]) })), [link]);
  return html`
    <h1 class="graph-pair"><${Named} name=${names[0]} /> <span class="faint">and</span> <${Named} name=${names[1]} /></h1>
    <${Asked} asked=${asked}>${({ relations }) => html`<${Said} relations=${relations} />`}<//>`;
}

const between = (concept, other) => concept.relations.filter((one) => one.other === other).map((one) => {
  const [subject, object] = one.forward ? [concept.name, other] : [other, concept.name];
  return { ...one, subject, object };
});

const Said = ({ relations }) => html`
  ${relations.length === 0
    ? html`<p class="graph-nothing">No sentence says how they stand to each other.</p>`
    : relations.map((relation) => html`
      <section key=${`${relation.predicate}${relation.forward}`}>
        <h2 class="section-title"><${Statement} relation=${relation} /></h2>
        ${relation.evidence.map((evidence, index) => html`<${Sentence} key=${index} evidence=${evidence} />`)}
        ${relation.statements > relation.evidence.length && html`
          <p class="faint small">${count(relation.evidence.length)} of ${plural(relation.statements, "sentence")}, the surest first.</p>`}
      </section>`)}`;

const Statement = ({ relation: { subject, object, predicate } }) => html`
  <bdi>${subject}</bdi> <${Words} predicate=${predicate}>${phrase(predicate)}<//> <bdi>${object}</bdi>`;

const MAIN = 14;

/** Where to begin, while nothing is chosen. */
export function MapPanel({ graph, total }) {
  return html`
    <h1>Map of the library</h1>
    <p class="faint small">
      ${plural(graph.nodes.size, "concept")} of ${count(total)}: those of which the papers make most and which a sentence joins to another.
    </p>
    <section>
      <h2 class="section-title">Begin with</h2>
      <ul class="graph-several is-close">${byImportance(graph).slice(0, MAIN).map((node) => html`
        <li key=${node.key}><${Named} name=${node.name} /><span class="faint small">${spoken(node)}</span></li>`)}</ul>
    </section>`;
}
