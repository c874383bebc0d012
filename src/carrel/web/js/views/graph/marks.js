// The drawing's own marks: concepts as discs, relations as lines between them, names beside them.
import { html, classes } from "../../dom.js";
import { isSmall } from "./labels.js";
import { colour, DASHES, holdsBothWays, phrase, PREDICATES, SHOWN } from "./predicates.js";

const ROUND = (number) => Math.round(number * 10) / 10;
const LINE = 1.22;

/** How large a concept is drawn; of a drawing seen from afar, a little smaller. */
export const radiusOf = (node, scale = 1) => (4 + 11 * node.size) * Math.min(1.25, Math.max(0.65, Math.sqrt(scale)));
export const fontOf = (node) => Math.round(10.6 + (isSmall() ? 2.4 : 4.4) * node.importance);
export const heightOf = (texts, font) => texts.length * font * LINE;

/** Arrow heads, of each colour one. */
export const Heads = () => html`
  <defs>
    ${[...PREDICATES, SHOWN].map((predicate) => html`
      <marker key=${predicate} id=${`head-${predicate}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7.500" markerHeight="7.500"
        markerUnits="userSpaceOnUse" orient="auto-start-reverse">
        <path d="M0 .6L8 4L0 7.400z" style=${{ fill: colour(predicate) }} />
      </marker>`)}
  </defs>`;

/** Which ends of a link have a head, seen from its first: `[start, end]`. */
function headed(relations) {
  const directed = relations.filter((one) => !holdsBothWays(one.predicate));
  return [directed.some((one) => !one.forward), directed.some((one) => one.forward)];
}

export const said = (relation) => `${relation.subject} ${phrase(relation.predicate)} ${relation.object}`;

export function Line({ link, from, to, gaps, state }) {
  const [across, down] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(across, down) || 1;
  const [head, tail] = headed(link.relations);
  // A line ends a little before the disc, so that its head is seen.
  const [first, last] = [gaps[0] + (head ? 3 : 1), gaps[1] + (tail ? 3 : 1)];
  if (first + last >= length) return null;
  const at = (share) => `${ROUND(from[0] + across * share)} ${ROUND(from[1] + down * share)}`;
  const path = `M${at(first / length)}L${at(1 - last / length)}`;
  const { predicate } = link.relations[0];
  const arrow = `url(#head-${predicate})`;
  const sentences = link.relations.reduce((sum, one) => sum + one.statements, 0);
  const strokeWidth = Math.min(3.2, 1.1 + 0.3 * sentences);
  const style = { stroke: colour(predicate), strokeWidth, strokeDasharray: DASHES[predicate] ?? "none" };
  return html`
    <g class=${classes("graph-edge", state)} data-link=${link.id} data-predicate=${predicate}>
      <path class="graph-edge-touch" d=${path} />
      <path class="graph-edge-line" d=${path} style=${style} marker-start=${head ? arrow : null} marker-end=${tail ? arrow : null} />
      <title>${link.relations.map(said).join("\n")}</title>
    </g>`;
}

export const Disc = ({ node, at: [x, y], radius, step, state }) => html`
  <g class=${classes("graph-node", `hop-${Math.min(3, node.hops)}`, state)} data-key=${node.key}
    transform=${`translate(${ROUND(x)} ${ROUND(y)})`}>
    <circle class="graph-node-touch" r=${Math.max(13, radius + 4)} />
    <circle class="graph-node-ring" r=${ROUND(radius + 4.5)} />
    <circle class="graph-node-disc" r=${ROUND(radius)} />
    ${step && html`<text class="graph-node-step" dy=".35em">${step}</text>`}
    <title>${node.name}</title>
  </g>`;

export const Name = ({ name: { key, texts, font, width, corner }, state }) => html`
  <text class=${classes("graph-name", state)} data-key=${key} font-size=${font}>
    ${texts.map((text, index) => html`
      <tspan key=${index} x=${ROUND(corner.x + width / 2)} y=${ROUND(corner.y + font * (0.96 + index * LINE))}>${text}</tspan>`)}
  </text>`;
