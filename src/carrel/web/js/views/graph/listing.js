// The same concepts and relations as a list: for who would rather read, and for who does not see the drawing.
import { html } from "../../dom.js";
import { byImportance, spoken } from "./model.js";
import { choose, chooseLink } from "./panel.js";
import { colour, phrase, rank } from "./predicates.js";

/** By concept, the important ones first; `quiet` for those who hear it beside the drawing: nothing in it can be pressed. */
export function Listing({ graph, selected = null, quiet = false }) {
  const related = relatedIn(graph);
  return html`
    <ul class=${quiet ? "unseen" : "graph-listing"} aria-label="Concepts and relations">
      ${byImportance(graph).map((node) => html`
        <li key=${node.key} class="graph-listed" aria-current=${node.key === selected ? "true" : null}>
          <span class="graph-listed-name">
            ${quiet ? node.name : html`<button class="graph-named" onClick=${() => choose(node.name)}><bdi>${node.name}</bdi></button>`}
            ${" "}<span class="faint small">${spoken(node)}</span>
          </span>
          <ul>${(related.get(node.key) ?? []).map((one, index) => html`<${Related} key=${index} node=${node} ...${one} quiet=${quiet} />`)}</ul>
        </li>`)}
    </ul>`;
}

function relatedIn(graph) {
  const related = new Map();
  const add = (key, one) => related.set(key, [...(related.get(key) ?? []), one]);
  for (const { a, b, relations } of graph.links) {
    for (const relation of relations) {
      add(a, { other: graph.nodes.get(b).name, words: phrase(relation.predicate, relation.forward), relation });
      add(b, { other: graph.nodes.get(a).name, words: phrase(relation.predicate, !relation.forward), relation });
    }
  }
  for (const several of related.values()) several.sort((one, other) => rank(one.relation.predicate) - rank(other.relation.predicate));
  return related;
}

const Related = ({ node, other, words, relation, quiet }) => html`
  <li>${quiet ? `${words} ${other}` : html`
    <span class="graph-relation-words" style=${{ color: colour(relation.predicate) }}>${words}</span>${" "}
    <button class="graph-said" onClick=${() => chooseLink(node.name, other)}><bdi>${other}</bdi></button>`}</li>`;
