// What the page keeps in this browser, and nowhere else.

const memory = new Map();

/** The value kept under a name, or `otherwise`; a browser that keeps nothing is no reason to fail. */
export function kept(name, otherwise = null) {
  try {
    const found = localStorage.getItem(`carrel.${name}`);
    return found === null ? memory.get(name) ?? otherwise : JSON.parse(found);
  } catch {
    return memory.get(name) ?? otherwise;
  }
}

export function keep(name, value) {
  memory.set(name, value);
  try {
    if (value === null) localStorage.removeItem(`carrel.${name}`);
    else localStorage.setItem(`carrel.${name}`, JSON.stringify(value));
  } catch {
    // It is kept until the page is closed.
  }
}

const HISTORY = 100;

/** Questions that were asked here, the latest first: `{ question, at }`. */
export const history = () => {
  const found = kept("history", []);
  return Array.isArray(found) ? found.filter((one) => typeof one?.question === "string") : [];
};

export function remember(question) {
  const others = history().filter((one) => one.question !== question);
  keep("history", [{ question, at: Date.now() }, ...others].slice(0, HISTORY));
}

export const forget = (question) =>
  keep("history", question === undefined ? [] : history().filter((one) => one.question !== question));
