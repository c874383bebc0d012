// What is searched for, as the address of the view says it. Names are those of the API, but for `q`.

export const TABS = { passages: "Passages", papers: "Papers", figures: "Figures" };
export const MODES = { hybrid: "Hybrid", vector: "Meaning", keyword: "Words", graph: "Graph" };
export const KINDS = { figure: "Figures", table: "Tables", algorithm: "Algorithms" };
/** The parameters that narrow a search, and may be dropped. */
export const NARROWING = ["yearMin", "yearMax", "venue", "tag", "paper", "chapter", "section"];

// What each tab is narrowed by; the others stand by until the tab is left.
const BY_TAB = {
  passages: [...NARROWING, "mode", "byPaper"],
  papers: ["yearMin", "yearMax", "tag"],
  figures: ["yearMin", "yearMax", "venue", "tag", "paper", "mode", "kind"],
};

const oneOf = (choices, value) => (Object.hasOwn(choices, value ?? "") ? value : "");
const whole = (text) => (/^-?\d{1,6}$/.test(text ?? "") ? text : "");

export function wantedOf(place) {
  const said = (name) => (place.get(name) ?? "").trim();
  const paper = place.getAll("paper").filter(Boolean);
  const chapter = paper.length === 1 ? whole(said("chapter")) : "";
  return {
    query: said("q"),
    tab: oneOf(TABS, said("tab")) || "passages",
    mode: oneOf(MODES, said("mode")) || "hybrid",
    yearMin: whole(said("yearMin")),
    yearMax: whole(said("yearMax")),
    venue: said("venue"),
    tag: place.getAll("tag").filter(Boolean),
    paper,
    chapter,
    section: chapter && whole(said("section")),
    byPaper: said("byPaper") === "true",
    kind: oneOf(KINDS, said("kind")),
    figure: said("figure"),
  };
}

const isGiven = (value) => (Array.isArray(value) ? value.length > 0 : Boolean(value));

/** What its tab asks the server. */
export const parametersOf = (wanted) =>
  Object.fromEntries(["query", ...BY_TAB[wanted.tab]].map((name) => [name, wanted[name]]));

export const applies = (wanted, name) => BY_TAB[wanted.tab].includes(name);

export const isNarrowed = (wanted) => NARROWING.some((name) => applies(wanted, name) && isGiven(wanted[name]));

/** The changes that drop all that narrows. */
export const EVERYWHERE = Object.fromEntries(NARROWING.map((name) => [name, ""]));
