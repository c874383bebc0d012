// What is fetched only when it is first needed: a part of the page, and the styles that go with it.
import { html, useEffect, useState } from "./dom.js";
import { Loading } from "./parts/states.js";

const linked = new Map();

/** Kept once a style is there; without it the page is plain, but works. */
export function styled(name) {
  if (!linked.has(name)) linked.set(name, new Promise((ready) => { link(`/static/styles/${name}.css`, ready); }));
  return linked.get(name);
}

function link(href, ready) {
  const made = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: ready, onerror: ready });
  // What is said for paper comes last.
  document.querySelector("link[media=print]").before(made);
}

/** A component that `load` brings, with styles of these names, when it is first shown. */
export function later(load, ...styles) {
  let Component = null;
  return function Later(properties) {
    const [, draw] = useState(Component !== null);
    useEffect(() => {
      if (Component) return;
      Promise.all([load(), ...styles.map(styled)]).then(
        ([loaded]) => { Component = loaded; draw(true); },
        (error) => draw(() => { throw error; }),
      );
    }, []);
    return Component ? html`<${Component} ...${properties} />` : html`<${Loading} />`;
  };
}
