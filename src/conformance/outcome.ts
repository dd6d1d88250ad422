// Reads and checks the outcome that a client posts to the runner for a conformance row.
import { parseJson } from "../values.js";

type OutcomeText =
  | "code"
  | "executed"
  | "message"
  | "text"
  | "codeSource"
  | "executedBecause"
  | "notRetried"
  /** Set if the row is to be skipped: the name of the ability (see `needs` of the row) that the client lacks. */
  | "skipped";

export interface ReportedOutcome extends Readonly<Partial<Record<OutcomeText, string>>> {
  readonly id: string;
  /** Whether the outcome has a `value`, which may be null, or `values`. */
  readonly hasValue: boolean;
  readonly attempts?: number;
  readonly retryAfterMs?: number | null;
  readonly inferred?: boolean;
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
  const refuse = (why: string): never => {
    throw new BadOutcome(why);
  };
  const posted = parseJson(text);
  if (posted === undefined) refuse("The body is not JSON.");
  if (typeof posted !== "object" || posted === null || Array.isArray(posted))
    return refuse("The body is not a JSON object.");
  for (const [name, value] of Object.entries(posted)) {
    const [is, words] = (Object.hasOwn(members, name) && members[name]) || [];
    const known = Object.keys(members).join(", ");
    if (!is) refuse(`There is no member ${JSON.stringify(name)}; there are ${known}.`);
    if (!is?.(value)) refuse(`${name} must be ${words}.`);
  }
  const has = (name: string): boolean => Object.hasOwn(posted, name);
  if (!has("id")) refuse("id is missing: it is the id that GET /next gave.");
  const kinds = ["value", "values", "code", "skipped"].filter(has);
  if (kinds.length !== 1)
    refuse(
      `An outcome has one of value, values, code and skipped; this one has ${kinds.join(", ") || "none"}.`,
    );
  const missing = ["executed", "attempts"].find((name) => has("code") && !has(name));
  if (missing) refuse(`${missing} is missing: an outcome with a code has it.`);
  return { ...posted, hasValue: has("value") || has("values") } as unknown as ReportedOutcome;
}
