// Going back goes to where one was, also when what was there has to be asked for anew.

// How long a view may take to be as long as it was.
const PATIENCE = 2000;
const places = kept();
let waiting = null;

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem("carrel.scroll")) ?? {};
  } catch {
    return {};
  }
}

function save() {
  try {
    sessionStorage.setItem("carrel.scroll", JSON.stringify(places));
  } catch {
    // Then a page that is loaded anew begins at its top.
  }
}

/** What a new step of the history is known by. */
export const step = () => ({ step: `${performance.timeOrigin + performance.now()}` });

const current = () => history.state?.step ?? "first";

const note = () => { if (!waiting) places[current()] = scrollY; };

/** Before another step is taken. */
export function leave() {
  giveUp();
  note();
}

export const toTop = () => scrollTo(0, 0);

/** To where one was at this step, and to there again while the view grows. */
export function back() {
  giveUp();
  const target = places[current()] ?? 0;
  const growing = new ResizeObserver(() => scrollTo(0, target));
  waiting = { growing, timer: setTimeout(giveUp, PATIENCE) };
  growing.observe(document.getElementById("app"));
}

function giveUp() {
  if (!waiting) return;
  waiting.growing.disconnect();
  clearTimeout(waiting.timer);
  waiting = null;
}

export function startScrolling() {
  history.scrollRestoration = "manual";
  addEventListener("scroll", note, { passive: true });
  // Whoever moves meanwhile wants to be elsewhere.
  for (const move of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(move, giveUp, { passive: true });
  addEventListener("pagehide", save);
  if (places[current()] && !location.hash) back();
}
