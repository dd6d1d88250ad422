// Reads and checks the outcome that a client posts to the runner for a conformance row.
import { parseJson } from "../values.js";

export interface ReportedOutcome {
  readonly id: string;
  /** Whether the outcome has a `value`, which may be null, or `values`. */
  readonly hasValue: boolean;
  readonly value?: unknown;
  /** The values of calls that were made at the same time, in the order of their arguments. */
  readonly values?: readonly unknown[];
  /** Set if the row is to be skipped: the name of the ability (see `needs` of the row) that the client lacks. */
  readonly skipped?: string;
  readonly code?: string;
  readonly executed?: string;
  readonly attempts?: number;
  readonly retryAfterMs?: number | null;
  readonly message?: string;
  readonly text?: string;
  readonly inferred?: boolean;
  readonly codeSource?: string;
  readonly executedBecause?: string;
  readonly notRetried?: string;
  /** Optional abilities that the client claims, such as to keep unknown members of a response. */
  readonly capabilities?: readonly string[];
}

/** Thrown for an invalid outcome, or an invalid request to the runner; the message says why. */
export class BadOutcome extends Error {}

const isText = (value: unknown): boolean => typeof value === "string";
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const oneOf =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    names.includes(value as string);

const capabilities: readonly unknown[] = ["unknown-members", "int64"];

const members: Readonly<Record<string, readonly [is: (value: unknown) => boolean, words: string]>> = {
  id: [isText, "the id of a row"],
  value: [() => true, "anything"],
  values: [Array.isArray, "a list with the value of each call"],
  skipped: [isText, "the name of what the client lacks"],
  code: [isText, "the code's name"],
  executed: [oneOf("no", "unknown", "yes"), "no, unknown or yes"],
  attempts: [isCount, "a whole number from 0"],
  retryAfterMs: [
    (value) => value === null || (typeof value === "number" && value >= 0),
    "milliseconds, or null",
  ],
  message: [isText, "a text"],
  text: [isText, "a text"],
  inferred: [(value) => typeof value === "boolean", "true or false"],
  codeSource: [oneOf("body", "status", "transport", "client"), "body, status, transport or client"],
  executedBecause: [isText, "a text"],
  notRetried: [isText, "a text"],
  capabilities: [
    (value) => Array.isArray(value) && value.every((name) => capabilities.includes(name)),
    `a list of ${capabilities.join(" and ")}`,
  ],
};

export function readOutcome(text: string): ReportedOutcome {
  const posted = parsed(text);
  for (const [name, value] of Object.entries(posted)) {
    if (!Object.hasOwn(members, name)) {
      throw new BadOutcome(
        `There is no member ${JSON.stringify(name)}; there are ${Object.keys(members).join(", ")}.`,
      );
    }
    const [is, words] = members[name] ?? [];
    if (!is?.(value)) throw new BadOutcome(`${name} must be ${words}.`);
  }
  const has = (name: string): boolean => Object.hasOwn(posted, name);
  if (!has("id")) throw new BadOutcome("id is missing: it is the id that GET /next gave.");
  const kinds = ["value", "values", "code", "skipped"].filter(has);
  if (kinds.length !== 1) {
    throw new BadOutcome(
      `An outcome has one of value, values, code and skipped; this one has ${kinds.join(", ") || "none"}.`,
    );
  }
  if (has("code")) {
    for (const name of ["executed", "attempts"]) {
      if (!has(name)) throw new BadOutcome(`${name} is missing: an outcome with a code has it.`);
    }
  }
  return { ...posted, hasValue: has("value") || has("values") } as unknown as ReportedOutcome;
}

function parsed(text: string): object {
  const value = parseJson(text);
  if (value === undefined) throw new BadOutcome("The body is not JSON.");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadOutcome("The body is not a JSON object.");
  }
  return value;
}
