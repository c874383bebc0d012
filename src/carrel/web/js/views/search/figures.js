// Figures, tables and algorithms, with their pictures.
import { html } from "../../dom.js";
import { get, inPath } from "../../api.js";
import { useAsked } from "../../asking.js";
import { useKeys } from "../../keys.js";
import { goWith } from "../../router.js";
import { plural } from "../../wording.js";
import { Dialog } from "../../parts/dialogs.js";
import { Icon } from "../../parts/icons.js";
import { PaperLink } from "../../parts/papers.js";
import { Asked, Failure, Loading } from "../../parts/states.js";
import { captionOf, labelOf, Look } from "../../parts/exhibits.js";
import { proofOf } from "./hit.js";
import { Nothing } from "./nothing.js";
import { More } from "./passages.js";
import { usePages } from "./pages.js";
import { Degraded, Understood } from "./understood.js";
import { KINDS, parametersOf } from "./wanted.js";

export function Figures({ wanted }) {
  const asked = usePages("/api/figures", { ...parametersOf(wanted), limit: 24 });
  const figures = asked.pages.flatMap((page) => page.results);
  const [first] = asked.pages;
  return html`
    <${Kinds} chosen=${wanted.kind} />
    ${asked.problem && html`<${Failure} problem=${asked.problem} again=${asked.again} />`}
    ${!first && !asked.problem && html`<${Loading} lines="6" label="Searching" />`}
    ${first && !asked.problem && html`
      <div class="found" aria-busy=${asked.loading}>
        <${Understood} query=${first.query} understood=${first.understood} />
        <${Degraded} degraded=${first.degraded} />
        ${figures.length === 0 && html`<${Nothing} wanted=${wanted} found=${first} what=${wanted.kind || "figure"} />`}
        <p class="unseen" role="status">${plural(figures.length, "figure")} shown</p>
        <ul class="figures">${figures.map((figure) => html`<li key=${figure.address}><${Card} figure=${figure} /></li>`)}</ul>
        <${More} asked=${asked} />
      </div>`}
    ${wanted.figure && html`<${Lightbox} address=${wanted.figure} figures=${figures} />`}`;
}

const Kinds = ({ chosen }) => html`
  <div class="kinds" role="group" aria-label="Kind">
    ${Object.entries({ "": "All", ...KINDS }).map(([kind, name]) => html`
      <button class="chip" key=${kind} aria-pressed=${chosen === kind} onClick=${() => goWith({ kind, figure: "" })}>${name}</button>`)}
  </div>`;

const Card = ({ figure }) => html`
  <figure class="figure-card">
    <button class="thumb is-small" aria-label=${`Open ${labelOf(figure)} of ${figure.title}`} onClick=${() => goWith({ figure: figure.address })}>
      <${Look} figure=${figure} />
    </button>
    <figcaption>
      <strong>${labelOf(figure)}</strong> <bdi class="figure-caption">${captionOf(figure)}</bdi>
      <span class="figure-paper"><${PaperLink} id=${figure.paperId} title=${figure.title} /></span>
    </figcaption>
  </figure>`;

/** One figure, large, with all that is said of it. */
function Lightbox({ address, figures }) {
  const found = figures.find((one) => one.address === address);
  const asked = useAsked((until) => found ?? get(`/api/chunks/${inPath(address)}`, {}, { signal: until }), [address]);
  const shown = found ?? asked.data;
  const at = figures.indexOf(found);
  const step = (by) => figures[at + by] && goWith({ figure: figures[at + by].address }, { replace: true });
  useKeys({ ArrowLeft: () => step(-1), ArrowRight: () => step(1) }, [at, figures.length]);
  return html`
    <${Dialog} wide title=${shown ? labelOf(shown) : "Figure"} close=${() => goWith({ figure: "" }, { replace: true })}>
      <${Asked} asked=${found ? { data: found } : asked}>${(figure) => html`<${Exhibit} key=${figure.address} figure=${figure} />`}<//>
      ${found && html`
        <p class="lightbox-steps">
          <button class="button is-quiet" disabled=${at === 0} onClick=${() => step(-1)}><${Icon} name="left" size="16" />Previous</button>
          <span class="faint">${at + 1} of ${figures.length}</span>
          <button class="button is-quiet" disabled=${at === figures.length - 1} onClick=${() => step(1)}>Next<${Icon} name="right" size="16" /></button>
        </p>`}
    <//>`;
}

const Exhibit = ({ figure }) => html`
  <div class="exhibit">
    <div class="exhibit-picture" tabindex="0" role="group" aria-label=${labelOf(figure)}><${Look} figure=${figure} large /></div>
    <p class="exhibit-caption serif" dir="auto">${captionOf(figure)}</p>
    ${figure.description && figure.description !== figure.caption && html`<p class="faint" dir="auto">${figure.description}</p>`}
    <p class="hit-place"><${PaperLink} id=${figure.paperId} title=${figure.title} />${figure.page !== null && html`<span>p. ${figure.page}</span>`}
      <a class="tool" href=${proofOf(figure.address)}>Proof</a></p>
    ${figure.referencedBy?.length > 0 && html`
      <h3 class="section-title">Mentioned in</h3>
      <ul class="mentions">${figure.referencedBy.map((one) => html`<li key=${one.address}><a href=${proofOf(one.address)}><bdi>${one.preview}</bdi></a></li>`)}</ul>`}
  </div>`;
