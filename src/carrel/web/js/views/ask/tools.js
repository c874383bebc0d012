// What can be done with an answer: copy it, save it, ask again, say how good it was.
import { html, useEffect, useId, useRef, useState } from "../../dom.js";
import { blob, post } from "../../api.js";
import { copy } from "../../parts/copying.js";
import { Icon } from "../../parts/icons.js";
import { Menu } from "../../parts/menus.js";
import { say } from "../../parts/toasts.js";
import { asMarkdown, references } from "./markdown.js";

export function Tools({ turn, again, rate }) {
  const [rating, setRating] = useState(0);
  const { response } = turn;
  const hasSources = response.citations.length > 0;
  return html`
    <div class="turn-tools">
      <${Menu} label="Copy" icon="copy" items=${copies(turn, hasSources)} />
      <${Menu} label="Save" icon="save" items=${FORMATS.map(([format, name]) => ({ name, work: () => saveBundle(response, format) }))} />
      <button class="button is-quiet" onClick=${again}><${Icon} name="again" size="16" />Ask again</button>
      <${Thumbs} turn=${turn} rating=${rating} setRating=${setRating} />
    </div>
    ${rating > 0 && !turn.rating && html`<${Rate} rating=${rating} setRating=${setRating} response=${response} rate=${rate} />`}`;
}

const copied = (text, name) => copy(text).then(() => say(`Copied ${name}`), (problem) => say(problem.message));

const copies = (turn, hasSources) => [
  { name: "As Markdown", work: () => copied(asMarkdown(turn), "as Markdown") },
  ...(hasSources ? [
    { name: "As Markdown with BibTeX", work: () => copied(asMarkdown(turn, "bibtex"), "as Markdown with BibTeX") },
    { name: "As Markdown with CSL", work: () => copied(asMarkdown(turn, "csl"), "as Markdown with CSL") },
    { name: "References as BibTeX", work: () => copied(references(turn.response, "bibtex"), "the references as BibTeX") },
  ] : []),
];

const FORMATS = [
  ["html", "As a page that can be checked"],
  ["json", "As JSON"],
  ["markdown", "As Markdown"],
];
const SUFFIXES = { html: "html", json: "json", markdown: "md" };

const fileName = (question) =>
  question.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60).replace(/^-|-$/g, "") || "answer";

/** By a request of ours, since a link cannot say who asks. */
async function saveBundle({ queryId, question }, format) {
  try {
    const url = URL.createObjectURL(await blob(`/api/answers/${queryId}/bundle?format=${format}`));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${fileName(question)}.${SUFFIXES[format]}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (problem) {
    say([problem.message, problem.hint].filter(Boolean).join(". "));
  }
}

function Thumbs({ turn, rating, setRating }) {
  if (turn.rating) return html`<span class="turn-rated">${turn.rating.told}</span>`;
  const thumb = (icon, label, value) => html`
    <button class="icon-button" aria-label=${label} title=${label} aria-expanded=${rating === value}
      onClick=${() => setRating(rating === value ? 0 : value)}>
      <${Icon} name=${icon} size="17" />
    </button>`;
  return html`
    <span class="turn-thumbs" role="group" aria-label="Rate this answer">
      ${thumb("thumbUp", "Good answer", 5)}${thumb("thumbDown", "Bad answer", 1)}
    </span>`;
}

const MEANINGS = ["Of no use", "Little use", "Some use", "Good", "Just right"];

/** From 1 to 5, once: the server takes no second opinion. */
function Rate({ rating, setRating, response, rate }) {
  const [problem, setProblem] = useState(null);
  const name = useId();
  const form = useRef(null);
  useEffect(() => { form.current.scrollIntoView({ block: "nearest" }); }, []);
  const send = async (event) => {
    event.preventDefault();
    const comment = new FormData(event.target).get("comment").trim();
    try {
      await post("/api/feedback", { queryId: response.queryId, rating, comment });
      rate({ rating, told: `Rated ${rating} of 5. Thank you.` });
    } catch (failure) {
      if (failure.status === 409) rate({ rating: null, told: "This answer was rated before; that rating stands." });
      else setProblem(failure);
    }
  };
  return html`
    <form class="rating" ref=${form} aria-label="Rate this answer" onSubmit=${send}>
      <fieldset class="rating-scale">
        <legend class="unseen">How good is it?</legend>
        ${MEANINGS.map((meaning, index) => html`
          <label key=${meaning} title=${meaning}>
            <input type="radio" name=${name} checked=${rating === index + 1} onChange=${() => setRating(index + 1)} />
            <span>${index + 1}<span class="unseen"> of 5: ${meaning}</span></span>
          </label>`)}
        <span class="rating-meaning" aria-hidden="true">${MEANINGS[rating - 1]}</span>
      </fieldset>
      <input class="field" name="comment" maxlength="2000" autocomplete="off" placeholder="What else is to be said (optional)" aria-label="Comment" />
      <button class="button is-main">Send</button>
      <button class="button is-quiet" type="button" onClick=${() => setRating(0)}>Cancel</button>
      ${problem && html`<p class="rating-problem" role="alert">${problem.message}${problem.hint && `. ${problem.hint}`}</p>`}
    </form>`;
}
