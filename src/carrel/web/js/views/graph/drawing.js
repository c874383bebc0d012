// The drawing: what is seen of it, what is pointed at, and what is written on it.
import { html, classes, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../dom.js";
import { Icon } from "../../parts/icons.js";
import { plural } from "../../wording.js";
import { beyond, centred, fitted, isSeen, shown, useCamera, useMoving, zoomed } from "./camera.js";
import { useGestures } from "./gestures.js";
import { Disc, Heads, Line, Name, radiusOf } from "./marks.js";
import { spoken } from "./model.js";
import { useInk, written } from "./names.js";
import { neighbours, useSteering } from "./steering.js";

/** `graph` drawn at `places`, of which those of `fresh` are new; `steps` has the number of each concept on a study path.
 *
 * `pointed` is the key of the concept that a mouse is over, here or elsewhere. `choose`, `chooseLink`, `expand`, `leave`,
 * `point` and `move` hear what is done. As long as `view` is the same, the camera is the reader's.
 */
export function Drawing({ graph, places, fresh, view, selected, link, pointed, steps, ...hear }) {
  const element = useRef(null);
  const size = useSize(element);
  const { camera, setCamera, fly } = useCamera();
  const [touchedLink, touchLink] = useState(null);
  const drawn = useMoving(places, fresh, (key) => graph.nodes.get(key)?.near.find((other) => !fresh.has(other)));
  const fit = (keys = [...places.keys()]) => fly(fitted(keys.map((key) => places.get(key)), size, covered(size)));
  const zoom = (factor) => fly(zoomed(camera, factor, { x: size.width / 2, y: size.height / 2 }));
  const show = (key) => isSeen(camera, places.get(key), size, 48) || fly(centred(camera, places.get(key), size));
  const way = [...steps.keys()].filter((key) => places.has(key));
  useFitting({ places, fresh, size, camera, fit: () => fit(way.length > 1 ? way : undefined), view: `${view} ${way}` });
  useEffect(() => { if (camera && places.has(selected)) show(selected); }, [selected]);
  const { cursor, setCursor, steer } = useSteering({ ...hear, graph, places, selected, zoom, fit: () => fit(), show });
  useGestures(element, {
    setCamera: (change) => camera && setCamera(change),
    drag: (key, across, down) => hear.move(key, across / camera.scale, down / camera.scale),
    point: (what) => { hear.point(what.key); touchLink(what.link); },
    tap: (what) => { setCursor(null); tapped(what, hear); },
    tapTwice: (what) => hear.expand(what.key),
  });
  const lit = pointed ?? cursor;
  return html`
    <div class="graph-drawing" ref=${element} tabindex="0" role="application" aria-roledescription="map" aria-label="Map of concepts"
      aria-describedby="drawing-hint" onKeyDown=${(event) => camera && steer(event)} onBlur=${() => setCursor(null)}>
      ${camera && html`
        <svg class=${classes("graph-drawing-svg", { "has-lit": lit !== null || touchedLink !== null, "has-steps": steps.size > 0 })}
          aria-hidden="true" width=${size.width} height=${size.height} data-scale=${camera.scale}>
          <${Heads} />
          <g transform=${`translate(${camera.x} ${camera.y})`}>
            <${Scene} ...${{ graph, drawn, scale: camera.scale, size, selected, link, lit, cursor, touchedLink, steps }} />
          </g>
        </svg>`}
      <p class="unseen" id="drawing-hint">${HINT}</p>
      <p class="unseen" role="status">${cursor !== null && told(graph.nodes.get(cursor))}</p>
      <${Tools} zoom=${zoom} fit=${() => fit()} />
    </div>`;
}

const HINT = "Arrow keys go from concept to concept, Enter chooses one and then expands it, plus and minus zoom, 0 shows the whole "
  + "map. After it, the same is told as a list.";

function tapped({ key, link }, { choose, chooseLink, leave }) {
  if (key !== null) choose(key);
  else if (link !== null) chooseLink(link);
  else leave();
}

const Tools = ({ zoom, fit }) => html`
  <div class="graph-drawing-tools">
    <button class="icon-button" aria-label="Closer" title="Closer (+)" onClick=${() => zoom(1.4)}><${Icon} name="zoomIn" /></button>
    <button class="icon-button" aria-label="Wider" title="Wider (−)" onClick=${() => zoom(1 / 1.4)}><${Icon} name="zoomOut" /></button>
    <button class="icon-button" aria-label="Whole map" title="Whole map (0)" onClick=${fit}><${Icon} name="fit" /></button>
  </div>`;

const told = (node) => `${node.name}, ${spoken(node)}, ${plural(node.near.length, "relation")}`;

/** What of the drawing the tools above it cover. */
const covered = ({ width }) => ({ top: width > 640 ? 56 : 48 });

function useSize(element) {
  const [size, setSize] = useState(null);
  useLayoutEffect(() => {
    const watching = new ResizeObserver(([{ contentRect: { width, height } }]) => width && height && setSize({ width, height }));
    watching.observe(element.current);
    return () => watching.disconnect();
  }, []);
  return size;
}

/** See all of what is new, and after a change of size what was seen; leave alone who looks at something of it. */
function useFitting({ places, fresh, size, camera, fit, view }) {
  const known = useRef({ view: null, size: null, places: null });
  useEffect(() => {
    if (!size) return;
    const { view: before, size: was, places: stood } = known.current;
    known.current = { view, size, places };
    const isOther = before !== view || was?.width !== size.width || was?.height !== size.height;
    const isBeyond = stood !== places && camera && [...fresh].some((key) => !isSeen(camera, places.get(key), size));
    if (isOther || isBeyond) fit();
  }, [places, size, view]);
}

/** All marks at a scale; the camera's place is no matter of theirs. */
function Scene({ graph, drawn, scale, size, selected, link, lit, cursor, touchedLink, steps }) {
  const inked = useInk();
  const at = (key) => shown({ scale, x: 0, y: 0 }, drawn.get(key));
  const radius = (node) => Math.max(steps.has(node.key) ? 11 : 0, radiusOf(node, scale));
  const near = useMemo(() => nearTo(graph, lit, touchedLink), [graph, lit, touchedLink]);
  const names = useMemo(
    () => written(graph, at, radius, { first: [lit, cursor, selected, graph.centre], near, steps }, beyond(size)),
    [graph, drawn, scale, size, inked, selected, lit, cursor, near, steps],
  );
  const stateOf = ({ key }) => ({
    "is-near": near.has(key), "is-chosen": key === selected, "is-cursor": key === cursor, "is-centre": key === graph.centre,
    "is-step": steps.has(key), "is-lone": graph.isFiltered && !graph.joined.has(key),
  });
  const lineStateOf = ({ id, a, b }) => ({
    "is-lit": id === touchedLink || (lit !== null && [a, b].includes(lit)), "is-chosen": id === link,
    "is-step": steps.has(a) && steps.has(b), "is-own": selected !== null && [a, b].includes(selected),
  });
  return html`
    ${graph.links.map((one) => html`
      <${Line} key=${one.id} link=${one} from=${at(one.a)} to=${at(one.b)}
        gaps=${[one.a, one.b].map((key) => radius(graph.nodes.get(key)))} state=${lineStateOf(one)} />`)}
    ${[...graph.nodes.values()].map((node) => html`
      <${Disc} key=${node.key} node=${node} at=${at(node.key)} radius=${radius(node)} step=${steps.get(node.key)} state=${stateOf(node)} />`)}
    ${names.map((name) => html`<${Name} key=${name.key} name=${name} state=${stateOf(name)} />`)}`;
}

function nearTo(graph, lit, touchedLink) {
  if (lit !== null && graph.nodes.has(lit)) return new Set([lit, ...neighbours(graph, lit)]);
  const link = graph.links.find((one) => one.id === touchedLink);
  return new Set(link ? [link.a, link.b] : []);
}
