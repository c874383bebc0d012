// What can be said of two concepts, and how it is drawn.

const WORDS = {
  PREREQUISITE: ["is needed for", "needs"],
  USES: ["uses", "is used by"],
  PART_OF: ["is part of", "has as a part"],
  EXAMPLE_OF: ["is an example of", "has as an example"],
  IMPLEMENTS: ["implements", "is implemented by"],
  COMPARED_TO: ["is compared to", "is compared to"],
  RELATED_TO: ["is related to", "is related to"],
};

/** What nobody states and the papers on the later concept show; only a study path has it. */
export const SHOWN = "SHOWN";

/** Those that say most first. */
export const PREDICATES = Object.keys(WORDS);

/** By its dashes, too, for who does not see the colour. */
export const DASHES = { COMPARED_TO: "7 4", RELATED_TO: "2 3.5", [SHOWN]: "1 4" };

const BOTH_WAYS = new Set(["COMPARED_TO", "RELATED_TO"]);

export const holdsBothWays = (predicate) => BOTH_WAYS.has(predicate);

/** Whether the subject is what is studied after the object. */
export const comesLater = (predicate) => predicate === "USES" || predicate === "EXAMPLE_OF";

export const phrase = (predicate, forward = true) => WORDS[predicate]?.[forward ? 0 : 1] ?? "comes before";

export const colour = (predicate) => (predicate === SHOWN ? "var(--faint)" : `var(--${predicate})`);

export const rank = (predicate) => (predicate === SHOWN ? PREDICATES.length : PREDICATES.indexOf(predicate));
