// What a lane of the lab says in one line, and what the test service has.
import type { Course } from "./experiment.js";

const ended = {
  upload: ["Not stored", "Stored once", "Stored twice", "Stored three times"],
  resume: ["Not resumed", "Resumed"],
  rerank: ["Not ranked", "Ranked"],
} as const;

const says = {
  no: "The error says: it did not run.",
  unknown: "The error says: it may have run.",
  yes: "The error says: it ran.",
} as const;

/** The verdict on a call that has ended: what was done, what the error says of it, and whether that is good to read. */
export function verdictOf({ operation, state, error, mistake, times }: Course): {
  readonly what: string;
  readonly says: string;
  readonly tone: "good" | "bad" | "unclear";
} {
  const what = ended[operation][times] ?? `Stored ${times} times`;
  if (times > 1) return { what, says: "", tone: "bad" };
  if (state === "done") return { what, says: "", tone: "good" };
  if (error) return { what, says: says[error.executed], tone: times > 0 ? "good" : "unclear" };
  // An error of a loop does not say whether the operation ran: it is a status, or the name of what was thrown.
  const [, only] = /^(?:Error: )?([^:]*)/.exec(mistake ?? "") ?? [];
  return { what, says: `The error says only: ${only}.`, tone: times > 0 ? "bad" : "unclear" };
}
