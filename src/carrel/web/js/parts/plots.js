// Small plots, drawn by hand. Each says its figures to whoever does not see it, and has them in a table on demand.
import { html, useState } from "../dom.js";
import { count } from "../wording.js";

/** A plot with its title; `label` is what it shows in words, `head` and `rows` are its table. */
export function Plot({ title, label, head, rows, children }) {
  const [isTable, setTable] = useState(false);
  return html`
    <figure class="plot">
      <figcaption><span class="plot-title">${title}</span>
        <button class="plain-link" aria-expanded=${isTable} aria-label=${`${isTable ? "Plot" : "Table"} of: ${title}`} onClick=${() => setTable(!isTable)}>${isTable ? "plot" : "table"}</button>
      </figcaption>
      ${isTable
        ? html`<${Table} title=${title} head=${head} rows=${rows} />`
        : html`<div class="plot-body" role="img" aria-label=${`${title}: ${label}`}>${children}</div>`}
    </figure>`;
}

const Table = ({ title, head, rows }) => html`
  <div class="plot-table" tabindex="0" role="region" aria-label=${title}>
    <table>
      <thead><tr>${head.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map(([first, ...rest]) => html`
        <tr key=${first}><th scope="row">${first}</th>${rest.map((value, index) => html`<td key=${index}>${value}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;

const HEIGHT = 64;
const STEP = 10;

/** A column for each `{ name, value }`, from left to right. */
export function Columns({ title, head, values }) {
  const most = Math.max(1, ...values.map(({ value }) => value));
  const label = values.map(({ name, value }) => `${name} ${count(value)}`).join(", ");
  return html`
    <${Plot} title=${title} label=${label} head=${head} rows=${values.map(({ name, value }) => [name, count(value)])}>
      <span class="plot-most" aria-hidden="true">${count(most)}</span>
      <svg class="columns" viewBox=${`0 0 ${values.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="plot-line" x1="0" x2=${values.length * STEP} y1="0.5" y2="0.5" /><line class="plot-line" x1="0" x2=${values.length * STEP} y1=${HEIGHT - 0.5} y2=${HEIGHT - 0.5} />
        ${values.map(({ name, value }, index) => {
          const height = (value / most) * (HEIGHT - 1);
          return html`<rect key=${name} class="plot-bar" x=${index * STEP + 1.5} width=${STEP - 3} y=${HEIGHT - height} height=${height}><title>${name}: ${count(value)}</title></rect>`;
        })}
      </svg>
      <span class="plot-ends" aria-hidden="true"><span>${values[0]?.name}</span>${values.length > 1 && html`<span>${values.at(-1).name}</span>`}</span>
    <//>`;
}

/** A bar for each `{ name, value, more, said, kind }`: as long as `value`, and faintly as long as `more`. */
export function Bars({ title, head, label, bars, rows }) {
  const most = Math.max(...bars.map(({ value, more = value }) => Math.max(value, more)), 0) || 1;
  return html`
    <${Plot} title=${title} label=${label} head=${head} rows=${rows}>
      <div class="bars" aria-hidden="true">
        ${bars.map(({ name, value, more = value, said, kind = "" }) => html`
          <span class="bar-name" key=${name}>${name}</span>
          <svg class="bar-line" viewBox="0 0 100 8" preserveAspectRatio="none">
            <rect class="plot-more" x="0" y="0" width=${(100 * more) / most} height="8" />
            <rect class=${`plot-bar ${kind}`} x="0" y="0" width=${(100 * value) / most} height="8" />
          </svg>
          <span class="bar-said">${said}</span>`)}
      </div>
    <//>`;
}
