// The proof of a quote, by itself: /proof/ADDRESS?start=&end=
import { html } from "../dom.js";
import { Empty } from "../parts/states.js";
import { ProofPanel } from "../parts/proof.js";

const offset = (text) => (/^\d{1,10}$/.test(text ?? "") ? Number(text) : null);

export function View({ place }) {
  if (!place.rest) {
    return html`<${Empty} title="Nothing is named"><p>A proof has an address, as an answer or a search gives it. <a href="/search">Search</a> for a passage.</p><//>`;
  }
  return html`<${ProofPanel} address=${place.rest} start=${offset(place.query.get("start"))} end=${offset(place.query.get("end"))} />`;
}
