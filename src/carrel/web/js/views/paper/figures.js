// Figures, tables and algorithms: small, and large with what is said of them.
import { html, useEffect, useRef, useState } from "../../dom.js";
import { get, inPath } from "../../api.js";
import { useAsked } from "../../asking.js";
import { useKeys } from "../../keys.js";
import { go } from "../../router.js";
import { count, plural } from "../../wording.js";
import { Dialog } from "../../parts/dialogs.js";
import { Look } from "../../parts/exhibits.js";
import { Icon } from "../../parts/icons.js";
import { paperAddress, placeIn } from "../../parts/papers.js";
import { Asked } from "../../parts/states.js";
import { Prose } from "./prose.js";

const FEW = 8;
const found = new Map();

/** What is known of a figure; asked for once. */
async function figureAt(place, signal) {
  if (!found.has(place)) found.set(place, await get(`/api/chunks/${inPath(place)}`, {}, { signal }));
  return found.get(place);
}

const figuresOf = (paper) => [...new Set(paper.chapters.flatMap((chapter) => chapter.figures))];

export function Figures({ paper }) {
  const figures = figuresOf(paper);
  return figures.length > 0 && html`
    <section aria-label="Figures and tables">
      <h2 class="section-title">${plural(figures.length, "figure or table", "figures and tables")}</h2>
      <${FigureGrid} paper=${paper} addresses=${figures} />
    </section>`;
}

export function FigureGrid({ paper, addresses }) {
  const [all, setAll] = useState(false);
  const shown = all ? addresses : addresses.slice(0, FEW);
  return html`
    <ul class="plates">${shown.map((one) => html`<${Card} key=${one} paper=${paper} place=${one} />`)}</ul>
    ${shown.length < addresses.length && html`<button class="button" onClick=${() => setAll(true)}>All ${count(addresses.length)}</button>`}`;
}

/** Asked for when it comes near. */
function Card({ paper, place }) {
  const element = useRef(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const watching = new IntersectionObserver(([entry]) => entry.isIntersecting && setNear(true), { rootMargin: "300px" });
    watching.observe(element.current);
    return () => watching.disconnect();
  }, []);
  const { data: figure, problem } = useAsked((signal) => (isNear ? figureAt(place, signal) : null), [place, isNear]);
  const name = figure?.label || placeIn(place, paper.id);
  return html`
    <li ref=${element}>
      <a class="plate-card" href=${paperAddress(paper.id, placeIn(place, paper.id))}>
        <span class="plate-small is-small">${figure && html`<${Look} figure=${figure} />`}</span>
        <span class="plate-caption"><bdi>${problem ? problem.message : figure ? captionOf(figure, name) : name}</bdi></span>
      </a>
    </li>`;
}

/** Most captions begin with the label. */
const captionOf = ({ caption }, name) => (caption.startsWith(name) ? caption : [name, caption].filter(Boolean).join(". "));

export function FigureDialog({ paper, name, pages }) {
  const figures = figuresOf(paper);
  const at = figures.indexOf(`${paper.id}/${name}`);
  const show = (place) => place && go(paperAddress(paper.id, placeIn(place, paper.id)), { replace: true });
  const close = () => go(paperAddress(paper.id), { replace: true });
  useKeys({ ArrowRight: () => show(figures[at + 1]), ArrowLeft: () => show(figures[at - 1]) }, [name]);
  const asked = useAsked((signal) => figureAt(`${paper.id}/${name}`, signal), [name]);
  const label = asked.data?.label || name;
  return html`
    <${Dialog} title=${label} close=${close} wide>
      <${Asked} asked=${asked} lines="6">${(figure) => html`<${Large} paper=${paper} figure=${figure} pages=${pages} />`}<//>
      <nav class="plate-turn" aria-label="Figures">
        <button class="button is-quiet" disabled=${at < 1} onClick=${() => show(figures[at - 1])}><${Icon} name="left" size="16" />Previous</button>
        <span class="faint small">${at >= 0 && `${at + 1} of ${figures.length}`}</span>
        <button class="button is-quiet" disabled=${at < 0 || at + 1 >= figures.length} onClick=${() => show(figures[at + 1])}>Next<${Icon} name="right" size="16" /></button>
      </nav>
    <//>`;
}

function Large({ paper, figure, pages }) {
  const isDrawn = figure.imageUrl || (figure.box && pages?.sizes.has(figure.box.page));
  return html`
    <figure class="plate-large">
      ${isDrawn ? html`<div class="plate-picture"><${Look} figure=${figure} large /></div>` : html`<${Prose} text=${figure.text} />`}
      ${isDrawn && figure.caption && html`<figcaption><bdi>${figure.caption}</bdi></figcaption>`}
      ${figure.description && html`<p class="faint"><bdi>${figure.description}</bdi></p>`}
    </figure>
    <p class="plate-place faint small">
      ${figure.sectionPath.length > 0 && html`<bdi>${figure.sectionPath.join(" › ")}</bdi>`}
      ${figure.page && html`<a href=${`/proof/${inPath(figure.address)}`}>Page ${figure.page}</a>`}
    </p>
    ${figure.referencedBy.length > 0 && html`
      <h3 class="section-title">Mentioned in</h3>
      <ul class="plate-mentions">
        ${figure.referencedBy.map((one) => html`
          <li key=${one.address}><a href=${paperAddress(paper.id, placeIn(one.address, paper.id))}><bdi>${one.preview}</bdi></a></li>`)}
      </ul>`}`;
}
