// What is drawn: concepts by key, and between any two at most one link with all that is said of them.
import { plural } from "../../wording.js";
import { comesLater, holdsBothWays, rank, SHOWN } from "./predicates.js";

/** One graph of several answers of the server, of which the first says what the centre is. */
export function merged(answers) {
  const nodes = new Map();
  const keys = new Map();
  for (const { key, name, ...rest } of answers.flatMap((answer) => answer.nodes)) {
    if (!nodes.has(key)) nodes.set(key, { ...rest, key, name, hops: 1, near: [] });
    keys.set(name, key);
  }
  const links = linked(answers.flatMap((answer) => answer.edges), keys);
  for (const link of links) {
    nodes.get(link.a).near.push(link.b);
    nodes.get(link.b).near.push(link.a);
  }
  const centre = keys.get(answers[0].centre) ?? null;
  if (centre !== null) measureHops(nodes, centre);
  weigh(nodes);
  return { nodes, links, centre, keys };
}

/** A study path as if the server had told it as a graph. */
export const asGraph = (study) => ({
  nodes: study.steps.map((step) => ({ ...step, read: step.read ? [step.read] : [] })),
  edges: study.steps.flatMap((step) => step.because).map(({ before, after, predicate, evidence, worth }) => {
    const [subject, object] = comesLater(predicate) ? [after, before] : [before, after];
    return { subject, object, predicate: predicate ?? SHOWN, evidence, statements: evidence.length, confidence: worth };
  }),
});

export const linkId = (...ends) => ends.sort().join("\n");

function linked(edges, keys) {
  const links = new Map();
  for (const edge of edges) {
    const [subject, object] = [keys.get(edge.subject), keys.get(edge.object)];
    if (subject === undefined || object === undefined || subject === object) continue;
    const id = linkId(subject, object);
    const [a, b] = [subject, object].sort();
    const link = links.get(id) ?? { id, a, b, relations: [] };
    const forward = subject === a;
    const isKnown = ({ predicate, forward: other }) => predicate === edge.predicate && (other === forward || holdsBothWays(predicate));
    if (!link.relations.some(isKnown)) link.relations.push({ ...edge, forward });
    links.set(id, link);
  }
  for (const link of links.values()) link.relations.sort((one, other) => rank(one.predicate) - rank(other.predicate));
  return [...links.values()];
}

function measureHops(nodes, centre) {
  for (const node of nodes.values()) node.hops = 3;
  nodes.get(centre).hops = 0;
  for (const queue = [centre]; queue.length;) {
    const node = nodes.get(queue.shift());
    for (const key of node.near) {
      const next = nodes.get(key);
      if (key === centre || next.hops <= node.hops + 1) continue;
      next.hops = node.hops + 1;
      queue.push(key);
    }
  }
}

/** `size` (0…1) is what the papers make of it; `importance` counts its relations, too. */
function weigh(nodes) {
  const all = [...nodes.values()];
  const most = Math.max(...all.map((node) => node.weight), 0);
  const widest = Math.max(...all.map((node) => node.near.length), 1);
  for (const node of all) {
    const joined = Math.sqrt(node.near.length / widest);
    node.size = most > 0 ? Math.sqrt(Math.max(0, node.weight) / most) : 0.6 * joined;
    node.importance = 0.6 * node.size + 0.4 * joined;
  }
}

/** How many papers speak of a concept; of the user's own, none may. */
export const spoken = ({ papers, curated }) => (papers || !curated ? plural(papers, "paper") : "yours");

export const byImportance = (graph) => [...graph.nodes.values()].sort((one, other) => other.importance - one.importance);

/** The links of which something is left when some predicates are hidden; what is left is all they have. */
export const visible = (links, hidden) =>
  links
    .map((link) => ({ ...link, relations: link.relations.filter((one) => !hidden.has(one.predicate)) }))
    .filter((link) => link.relations.length > 0);

/** How often each predicate is there. */
export function counted(links) {
  const counts = new Map();
  for (const { predicate } of links.flatMap((link) => link.relations)) counts.set(predicate, (counts.get(predicate) ?? 0) + 1);
  return counts;
}
