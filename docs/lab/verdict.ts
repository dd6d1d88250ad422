// What a lane of the lab says in one line, and what the test service has.
import type { LabOperation } from "./calls.js";
import type { Course } from "./experiment.js";

/** One line, and whether it is good to read. */
export interface Verdict {
  readonly what: string;
  /** What the error says of it, where there is one. */
  readonly says: string;
  readonly tone: "good" | "bad" | "unclear";
}

const stored = ["", "", "Stored twice", "Stored three times"];

const done: Readonly<Record<LabOperation, readonly [not: string, done: string]>> = {
  upload: ["Not stored", "Stored once"],
  resume: ["Not resumed", "Resumed"],
  rerank: ["Not ranked", "Ranked"],
  scale: ["Not scaled", "Scaled to zero"],
};

const says = {
  no: "The error says: it did not run.",
  unknown: "The error says: it may have run.",
  yes: "The error says: it ran.",
} as const;

/** How often the test service did what it was asked, as far as it can tell. */
export function timesDone({ operation, kept, state }: Course): number {
  if (operation === "upload") return kept.files;
  if (operation === "resume") return kept.job === "JOB_STATE_RUNNING" ? 1 : 0;
  return operation === "scale" ? Number(kept.replicas === 0) : Number(state === "done");
}

/** The verdict on a call that has ended. */
export function verdictOf(course: Course): Verdict {
  const { operation, state, error, mistake, requests } = course;
  const times = timesDone(course);
  const [not, once] = done[operation];
  const what = times > 1 ? (stored[times] ?? `Stored ${times} times`) : times === 1 ? once : not;
  if (times > 1) return { what, says: "", tone: "bad" };
  if (state === "done") return { what, says: "", tone: "good" };
  if (error) return { what, says: says[error.executed], tone: times > 0 ? "good" : "unclear" };
  if (requests === 0) return { what: "The call itself is wrong", says: `${mistake}`, tone: "unclear" };
  // An error of a loop does not say whether the operation ran: it is a status, or the name of what was thrown.
  const [, only] = /^(?:Error: )?([^:]*)/.exec(mistake ?? "") ?? [];
  return { what, says: `The error says only: ${only}.`, tone: times > 0 ? "bad" : "unclear" };
}

/** What the test service counts. */
export function keptWords({ operation, kept, requests }: Course): string {
  const received = `${requests} ${requests === 1 ? "request" : "requests"}`;
  if (operation === "rerank") return received;
  if (operation === "scale")
    return `${received}, ${kept.replicas} ${kept.replicas === 1 ? "replica" : "replicas"}`;
  if (operation === "resume") return `${received}, ${kept.job}`;
  return `${received}, ${kept.files} ${kept.files === 1 ? "file" : "files"} stored`;
}

/** Whether both ended alike: as well, and with as much done. */
export function alike(one: Course, other: Course): boolean {
  return one.state === other.state && timesDone(one) === timesDone(other) && one.state === "done";
}
