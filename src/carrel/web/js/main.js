// The shell: where one is, where one can go, and whether the server is there.
import { html, render, useEffect, useErrorBoundary, useState } from "./dom.js";
import { useArrival } from "./arriving.js";
import { get, reachable } from "./api.js";
import { useKeys } from "./keys.js";
import { styled } from "./later.js";
import { go, startRouting, usePlace } from "./router.js";
import { keep, kept } from "./store.js";
import { count } from "./wording.js";
import { Dialog } from "./parts/dialogs.js";
import { Icon } from "./parts/icons.js";
import { Empty, Failure, Loading } from "./parts/states.js";
import { Toasts } from "./parts/toasts.js";
import { Tray } from "./parts/tray.js";
import { KeptToken, TokenDialog } from "./parts/tokens.js";

// Loaded when they are first looked at; each exports `View({ place })`.
const VIEWS = {
  __proto__: null,
  ask: () => import("./views/ask.js"),
  search: () => import("./views/search.js"),
  library: () => import("./views/library.js"),
  paper: () => import("./views/paper.js"),
  proof: () => import("./views/proof.js"),
  graph: () => import("./views/graph.js"),
  health: () => import("./views/health.js"),
};
// Those of the first view come with the page.
const STYLES = {
  __proto__: null, search: ["search"], library: ["library"], paper: ["library", "paper"], proof: ["proof"], graph: ["graph"], health: ["health"],
};
const TABS = [
  { view: "ask", name: "Ask", key: "a" },
  { view: "search", name: "Search", key: "s" },
  { view: "library", name: "Library", key: "l", also: ["paper"] },
  { view: "graph", name: "Graph", key: "g" },
  { view: "health", name: "Health", key: "h" },
];
const HELP = [
  ["g then a, s, l, g, h", "Go to Ask, Search, Library, Graph, Health"],
  ["/", "To the box where one writes"],
  ["j and k", "Next and previous in a list"],
  ["Enter", "Open what is chosen"],
  ["1 to 9", "Open the proof of that citation"],
  ["Esc", "Close what is open"],
  ["t", "Light, dark, or as the system has it"],
  ["?", "This list"],
];

function Shell() {
  const place = usePlace();
  const [helping, setHelping] = useState(false);
  const admissions = useAdmissions();
  useArrival(place);
  useKeys({
    ...Object.fromEntries(TABS.map(({ view, key }) => [`g ${key}`, () => go(`/${view}`)])),
    "/": () => document.querySelector("[data-primary]")?.focus() ?? true,
    "?": () => setHelping(true),
    t: nextTheme,
  });
  return html`
    <a class="skip" href="#main" onClick=${skip}>To the content</a>
    <${Bar} place=${place} help=${() => setHelping(true)} />
    <main id="main" tabindex="-1" class=${`view is-${place.view}`}>
      <${Reachability} />
      <${Viewed} key=${`${place.view} ${admissions}`} place=${place} />
    </main>
    ${helping && html`<${Dialog} title="Keyboard" close=${() => setHelping(false)}><${Help} /><${KeptToken} /><//>`}
    <${TokenDialog} />
    <${Tray} view=${place.view} />
    <${Toasts} />`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

const Bar = ({ place, help }) => html`
  <header class="bar">
    <a class="brand" href="/" aria-label="Carrel"><img src="/static/icon.svg" alt="" width="26" height="26" /><span>Carrel</span></a>
    <nav class="tabs" aria-label="Views">
      ${TABS.map(({ view, name, also = [] }) => html`
        <a key=${view} class="tab" href=${`/${view}`} aria-current=${[view, ...also].includes(place.view) ? "page" : null}>
          <${Icon} name=${view} /><span>${name}</span>
        </a>`)}
    </nav>
    <div class="bar-foot">
      <${Holding} />
      <div class="bar-tools"><${ThemeButton} /><button class="icon-button bar-help" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick=${help}><${Icon} name="keys" /></button></div>
    </div>
  </header>`;

/** How much is here, as a quiet word. */
function Holding() {
  const [held, setHeld] = useState(null);
  useEffect(() => {
    const look = () => get("/api/papers", { limit: 1 }).then((page) => setHeld(page.total), () => {});
    look();
    const heard = reachable.listen((how) => how === "yes" && look());
    addEventListener("carrel:changed", look);
    return () => { heard(); removeEventListener("carrel:changed", look); };
  }, []);
  return held !== null && html`<a class="holding" href="/library">${count(held)} ${held === 1 ? "paper" : "papers"}</a>`;
}

const THEMES = ["system", "light", "dark"];
const THEME_ICONS = { system: "half", light: "sun", dark: "moon" };
const theme = () => THEMES.find((name) => name === kept("theme")) ?? "system";

function nextTheme() {
  keep("theme", THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
  // Heard by theme.js, too.
  dispatchEvent(new Event("carrel:theme"));
}

function ThemeButton() {
  const [chosen, setChosen] = useState(theme());
  useEffect(() => {
    const listen = () => setChosen(theme());
    addEventListener("carrel:theme", listen);
    return () => removeEventListener("carrel:theme", listen);
  }, []);
  const label = `Theme: ${chosen === "system" ? "as the system" : chosen}`;
  return html`<button class="icon-button" aria-label=${label} title=${`${label} (t)`} onClick=${nextTheme}><${Icon} name=${THEME_ICONS[chosen]} /></button>`;
}

const Help = () => html`
  <dl class="keys">${HELP.map(([keys, meaning]) => html`<div key=${keys}><dt><kbd>${keys}</kbd></dt><dd>${meaning}</dd></div>`)}</dl>`;

function Reachability() {
  const [how, setHow] = useState(reachable.value);
  useEffect(() => reachable.listen(setHow), []);
  return how === "no" && html`
    <p class="offline" role="alert"><${Icon} name="warning" size="18" />Carrel does not answer. This page goes on by itself once it does.</p>`;
}

/** How often a token has let somebody in: whatever was refused before begins anew. */
function useAdmissions() {
  const [number, setNumber] = useState(0);
  useEffect(() => {
    let before = reachable.value;
    return reachable.listen((how) => {
      if (before === "denied" && how === "yes") setNumber((old) => old + 1);
      before = how;
    });
  }, []);
  return number;
}

/** Once the server answers again, if it is not there: that is found out by asking. */
function whenBack(work) {
  get("/api/health/live").catch(() => {});
  return reachable.listen((how) => how === "yes" && work());
}

async function fetched(view) {
  const [module] = await Promise.all([VIEWS[view](), ...(STYLES[view] ?? []).map(styled)]);
  return module;
}

/** The view of this place, loaded when it is first needed. */
function Viewed({ place }) {
  const [loaded, setLoaded] = useState(null);
  const [failure, setFailure] = useState(null);
  const [broken, mend] = useErrorBoundary((error) => console.error(error));
  useEffect(() => { if (VIEWS[place.view]) fetched(place.view).then(setLoaded, setFailure); }, []);
  useEffect(() => { if (broken) mend(); }, [place]);
  useEffect(() => (failure ? whenBack(() => location.reload()) : undefined), [failure]);
  if (!VIEWS[place.view]) {
    return html`<${Empty} title="There is no such page"><p><a href="/ask">Ask</a> or <a href="/search">search</a> instead.</p><//>`;
  }
  if (broken) return html`<${Failure} problem=${{ message: "This view broke", hint: String(broken.message ?? broken) }} again=${mend} />`;
  if (failure) return html`<${Failure} problem=${{ message: "This view could not be loaded", hint: "Is 'carrel serve' still running?" }} again=${() => location.reload()} />`;
  return loaded ? html`<${loaded.View} place=${place} />` : html`<${Loading} />`;
}

startRouting();
render(html`<${Shell} />`, document.getElementById("app"));
