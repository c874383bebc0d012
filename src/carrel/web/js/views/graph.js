// What the papers speak of and how it hangs together, as a drawing that leads to the sentences that say so.
import { html, classes, useEffect, useMemo, useRef, useState } from "../dom.js";
import { useAsked } from "../asking.js";
import { useKeys } from "../keys.js";
import { go, goWith } from "../router.js";
import { address } from "../api.js";
import { Icon } from "../parts/icons.js";
import { Failure, Loading } from "../parts/states.js";
import { Drawing } from "./graph/drawing.js";
import { Finder } from "./graph/finder.js";
import { Listing } from "./graph/listing.js";
import { Missing } from "./graph/missing.js";
import { counted, linkId, visible } from "./graph/model.js";
import { Options } from "./graph/options.js";
import { choose, chooseLink, ConceptPanel, expand, LinkPanel, MapPanel } from "./graph/panel.js";
import { SHOWN } from "./graph/predicates.js";
import { load, stateOf, usePlaced, viewOf } from "./graph/state.js";
import { StudyPanel } from "./graph/study.js";

export function View({ place }) {
  const state = stateOf(place.query);
  const asked = useAsked(() => load(state), [viewOf(state), state.open.join("\n"), state.path, state.selected]);
  const { graph, places, fresh, move } = usePlaced(asked.data);
  useEffect(() => {
    addEventListener("carrel:changed", asked.again);
    return () => removeEventListener("carrel:changed", asked.again);
  }, []);
  const isMissing = asked.problem && asked.data?.view !== viewOf(state);
  return html`
    <div class=${classes("graph", { "is-list": state.isList })}>
      <div class="graph-tools">
        <${Finder} value=${state.name} choose=${(name) => go(address("/graph", { name }))} />
        ${state.name && html`<a class="button" href="/graph">Map</a>`}
        ${graph && !isMissing && html`
          <button class="button graph-toggle" aria-pressed=${state.isList} onClick=${() => goWith({ as: state.isList ? null : "list" })}>As a list</button>`}
      </div>
      ${isMissing
        ? html`<div class="graph-none"><${Missing} key=${state.name} name=${state.name} problem=${asked.problem} again=${asked.again} /></div>`
        : graph ? html`<${Shown} ...${{ state, graph, places, fresh, move, data: asked.data, asked }} />`
          : html`<div class="graph-none"><${Loading} lines="5" /></div>`}
    </div>`;
}

/** The drawing or the list, and beside it what is told of what is chosen. */
function Shown({ state, graph, places, fresh, move, data, asked }) {
  const [pointed, point] = useState(null);
  const hidden = [...state.hidden].join();
  const filtered = useMemo(() => {
    // What only a study path has is no predicate that could be hidden, and is drawn as long as the path is shown.
    const links = visible(graph.links, state.path ? state.hidden : new Set([...state.hidden, SHOWN]));
    return { ...graph, links, joined: new Set(links.flatMap(({ a, b }) => [a, b])), isFiltered: state.hidden.size > 0 };
  }, [graph, hidden, state.path]);
  const chosen = state.selected ?? (state.name ? data.answers[0].centre : null);
  const key = graph.keys.get(chosen) ?? graph.keys.get(data.chosen) ?? null;
  const link = state.edge && filtered.links.find((one) => one.id === linkId(...state.edge.map((name) => graph.keys.get(name))));
  const steps = useMemo(() => stepsOf(state, data), [data, state.path]);
  const nameOf = (one) => graph.nodes.get(one).name;
  const leave = () => Boolean(state.selected || state.edge) && goWith({ selected: null, edge: null, path: null });
  useKeys({ Escape: leave }, [state.selected, state.edge]);
  return html`
    ${asked.problem && html`<${Failure} problem=${asked.problem} again=${asked.again} />`}
    <div class="graph-stage">
      ${state.isList ? html`<div class="graph-list"><${Listing} graph=${filtered} selected=${key} /></div>` : html`
        <${Drawing} ...${{ places, fresh, pointed, point, steps, move, leave }} graph=${filtered} view=${data.view}
          selected=${key} link=${link?.id ?? null}
          choose=${(one) => choose(nameOf(one))} expand=${(one) => expand(state.open, nameOf(one))}
          chooseLink=${(id) => chooseLink(...ends(graph, id).map(nameOf))} />
        <${Listing} graph=${filtered} quiet />`}
      <${Options} counts=${counted(graph.links)} state=${state} />
    </div>
    <${Sheet} what=${`${chosen} ${state.edge} ${state.path}`} isChosen=${Boolean(state.selected || state.edge)}>
      ${state.edge ? html`<${LinkPanel} link=${link ?? null} names=${state.edge} />`
        : state.path && chosen ? html`<${StudyPanel} name=${chosen} point=${point} />`
          : chosen ? html`<${ConceptPanel} name=${chosen} graph=${graph} state=${state} />`
            : html`<${MapPanel} graph=${graph} total=${data.answers[0].total} />`}
    <//>`;
}

const ends = (graph, id) => { const { a, b } = graph.links.find((one) => one.id === id); return [a, b]; };

/** The number of each concept on the study path that is shown. */
function stepsOf(state, data) {
  if (!state.path) return new Map();
  return new Map(data.answers.flatMap((answer) => answer.nodes).filter((node) => node.step).map((node) => [node.key, node.step]));
}

/** At the side; on a phone at the foot, where it can be made taller. */
function Sheet({ what, isChosen, children }) {
  const [isTall, setTall] = useState(false);
  const element = useRef(null);
  const before = useRef(what);
  useEffect(() => {
    element.current.scrollTop = 0;
    // Who pressed something that is gone now goes on with what came instead.
    if (before.current !== what && document.activeElement === document.body) element.current.focus({ preventScroll: true });
    before.current = what;
  }, [what]);
  return html`
    <aside ref=${element} tabindex="-1" aria-label="What is chosen" class=${classes("graph-panel", { "is-tall": isTall, "is-chosen": isChosen })}>
      <button class="graph-sheet-handle" aria-expanded=${isTall} aria-label=${isTall ? "Less" : "More"} onClick=${() => setTall(!isTall)}>
        <${Icon} name=${isTall ? "down" : "up"} size="16" />
      </button>
      <div key=${what}>${children}</div>
    </aside>`;
}
