// Asking: a conversation, and the proof of what is said in it.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../dom.js";
import { address } from "../api.js";
import { useMedia } from "../asking.js";
import { useKeys } from "../keys.js";
import { later } from "../later.js";
import { go, goWith } from "../router.js";
import { Icon } from "../parts/icons.js";
import { Composer } from "./ask/composer.js";
import { answer, latest, newConversation, rated, say, stop, takeUp, turnsOf, useConversation } from "./ask/conversations.js";
import { Glance, useGlance } from "./ask/glance.js";
import { whereOf } from "./ask/places.js";
import { Turn } from "./ask/turn.js";
import { Welcome } from "./ask/welcome.js";

// The first view is there sooner without it.
const ProofPanel = later(() => import("../parts/proof.js").then((part) => part.ProofPanel), "proof");
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `/ask?q=QUESTION&c=CONVERSATION&cite=TURN.NUMBER`, and where to look as `paper`, `tag`, `yearMin`, `yearMax`. */
export function View({ place }) {
  const question = place.query.get("q")?.trim() ?? "";
  const id = UUID.test(place.query.get("c")) ? place.query.get("c") : "";
  const where = useMemo(() => whereOf(place.query), [place]);
  const turns = useConversation(id);
  const [arrived, setArrived] = useState(null);
  useEffect(() => { arrive(id, question, where, setArrived); }, [id, question]);
  const asking = turns.findLastIndex((turn) => turn.state === "asking");
  const isEmpty = turns.length === 0 && !question;
  const ask = (words) => {
    const conversation = id || newConversation();
    setArrived({ at: say(conversation, words, where) });
    go(address("/ask", { q: words, c: conversation, ...where }));
  };
  const composer = html`
    <${Composer} key="composer" isFirst=${isEmpty} ask=${ask} stop=${asking < 0 ? null : () => stop(id, asking)}
      where=${where} setWhere=${(next) => goWith(next, { replace: true })} />`;
  if (isEmpty) return html`<div class="ask is-empty"><${Welcome} latest=${latest()}>${composer}<//></div>`;
  return html`<${Talk} id=${id} turns=${turns} cite=${place.query.get("cite") ?? ""} arrived=${arrived}>${composer}<//>`;
}

/** A question of the address is asked, unless it was. */
function arrive(id, question, where, setArrived) {
  if (id) takeUp(id);
  if (!question || turnsOf(id).some((turn) => turn.question === question)) return;
  const conversation = id || newConversation();
  setArrived({ at: say(conversation, question, where) });
  if (!id) goWith({ c: conversation }, { replace: true });
}

function Talk({ id, turns, cite, arrived, children }) {
  const isNarrow = useMedia("(max-width: 1099px)");
  const glancing = useGlance();
  const shown = cited(turns, cite);
  const [keepInView, open, close] = usePanel(isNarrow, shown, glancing.close);
  useArrived(arrived, turns);
  useLayoutEffect(keepInView, [cite]);
  const reading = shown?.turn ?? turns.findLastIndex((turn) => turn.citations?.length > 0);
  useKeys({
    ...Object.fromEntries("123456789".split("").map((digit) => [digit, () => openNumber(turns, reading, digit, open)])),
    j: () => openNext(turns, shown, 1, open),
    k: () => openNext(turns, shown, -1, open),
    n: () => go("/ask"),
  }, [turns, reading, cite, isNarrow]);
  const modal = isNarrow && shown;
  return html`
    <div class=${shown ? "ask has-proof" : "ask"}>
      <div class="ask-talk" inert=${modal ? true : null}>
        <div class="ask-head">
          <h1 class="unseen">Conversation</h1>
          <a class="button is-quiet" href="/ask" title="New conversation (n)"><${Icon} name="add" size="17" />New conversation</a>
        </div>
        ${turns.map((turn, at) => html`
          <${Turn} key=${at} turn=${turn} number=${at + 1} current=${shown?.turn === at ? shown.number : null} look=${glancing.look}
            open=${(citation) => open(at, citation.id)} again=${() => answer(id, at)} rate=${(rating) => rated(id, at, rating)} />`)}
        <div class="ask-foot">${children}</div>
      </div>
      ${shown && html`
        <aside class="ask-proof" role=${modal ? "dialog" : null} aria-modal=${modal ? "true" : null} aria-label="Proof of a citation">
          <${ProofPanel} ...${shown.proof} close=${close} />
        </aside>`}
      ${glancing.glance && html`<${Glance} key=${glancing.glance.citation.id} ...${glancing} />`}
    </div>`;
}

/** What an address means by `2.1`, the first citation of the second turn, or `2.m1`, its first near miss. */
function cited(turns, cite) {
  const [, turn, miss, number] = /^(\d+)\.(m?)(\d+)$/.exec(cite) ?? [];
  const found = turns[turn - 1];
  if (miss) {
    const near = found?.response?.nearMisses[number - 1];
    return near ? { turn: turn - 1, number: `m${number}`, proof: { address: near.address } } : null;
  }
  const citation = found?.citations?.find((one) => one.id === Number(number));
  if (!citation) return null;
  const { address: at, start, end, quote } = citation;
  return { turn: turn - 1, number: citation.id, proof: { address: at, start, end, quote, number: citation.id } };
}

function openNumber(turns, reading, digit, open) {
  if (!turns[reading]?.citations.some((one) => one.id === Number(digit))) return false;
  open(reading, Number(digit));
  return true;
}

/** With a proof open, on to that of the citation after it or before it. */
function openNext(turns, shown, step, open) {
  const next = shown && turns[shown.turn].citations.find((one) => one.id === shown.number + step);
  if (!next) return false;
  open(shown.turn, next.id);
  return true;
}

const markOf = (turn, number) => document.querySelector(`#turn-${turn + 1} [data-citation="${number}"]`);

/** Opening beside the answer is no step of its own; over it, on a phone, it is one, so that going back closes it.
 *
 * What is opened stays where it was on the screen, although the column gets narrower.
 */
function usePanel(isNarrow, shown, stopGlancing) {
  const anchor = useRef(null);
  const isStep = useRef(false);
  useEffect(() => { if (!shown) isStep.current = false; }, [shown]);
  const hold = (mark) => { anchor.current = mark && scrollY > 0 ? { mark, top: mark.getBoundingClientRect().top } : null; };
  const keepInView = () => {
    if (!anchor.current || isNarrow) return;
    const { mark, top } = anchor.current;
    scrollBy({ top: mark.getBoundingClientRect().top - top, behavior: "instant" });
    anchor.current = null;
  };
  const open = (turn, number) => {
    stopGlancing();
    hold(markOf(turn, number));
    isStep.current ||= isNarrow && !shown;
    goWith({ cite: `${turn + 1}.${number}` }, { replace: !isNarrow || Boolean(shown) });
  };
  const close = () => {
    const mark = markOf(shown.turn, shown.number);
    hold(mark);
    if (isStep.current) history.back();
    else goWith({ cite: null }, { replace: true });
    setTimeout(() => { mark?.focus({ preventScroll: true }); stopGlancing(); });
  };
  return [keepInView, open, close];
}

/** To the question that was just asked: its answer is read there, and its numbers open proofs. */
function useArrived(arrived, turns) {
  const seen = useRef(null);
  useEffect(() => {
    const turn = arrived && document.getElementById(`turn-${arrived.at + 1}`);
    if (!turn || seen.current === arrived) return;
    seen.current = arrived;
    turn.querySelector(".turn-question").focus({ preventScroll: true });
    turn.scrollIntoView({ block: "start" });
  }, [arrived, turns]);
}
