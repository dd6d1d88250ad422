// Reads and checks the outcome that a client posts to the runner for a conformance row.
import { parseJson } from "../values.js";

/** `skipped`: the row is to be skipped, and this is the ability (see `needs` of the row) that the client lacks. */
type Texts =
  | "code"
  | "executed"
  | "message"
  | "text"
  | "codeSource"
  | "executedBecause"
  | "notRetried"
  | "skipped";

export interface ReportedOutcome extends Readonly<Partial<Record<Texts, string>>> {
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

type Rule = readonly [is: (value: unknown) => boolean, words: string];

const text: Rule = [(value) => typeof value === "string", "a text"];
const oneOf = (...names: readonly string[]): Rule => [
  (value) => names.includes(value as string),
  names.join(", ").replace(/, (\w+)$/, " or $1"),
];

const members: Readonly<Record<string, Rule>> = {
  ...{ id: text, skipped: text, code: text, message: text, text, executedBecause: text, notRetried: text },
  value: [() => true, "anything"],
  values: [Array.isArray, "a list with the value of each call"],
  executed: oneOf("no", "unknown", "yes"),
  codeSource: oneOf("body", "status", "transport", "client"),
  attempts: [(value) => Number.isInteger(value) && (value as number) >= 0, "a whole number from 0"],
  retryAfterMs: [
    (value) => value === null || (typeof value === "number" && value >= 0),
    "milliseconds, or null",
  ],
  inferred: [(value) => typeof value === "boolean", "true or false"],
  capabilities: [
    (value) => Array.isArray(value) && value.every((name) => /^(unknown-members|int64)$/.test(name)),
    "a list of unknown-members and int64",
  ],
};

export function readOutcome(body: string): ReportedOutcome {
  const posted = parseJson(body);
  const refuse = (why: string): never => {
    throw new BadOutcome(why);
  };
  if (typeof posted !== "object" || posted === null || Array.isArray(posted))
    return refuse("The body is not a JSON object.");
  for (const [name, value] of Object.entries(posted)) {
    if (!Object.hasOwn(members, name))
      refuse(`There is no member ${JSON.stringify(name)}; there are ${Object.keys(members).join(", ")}.`);
    const [is, words] = members[name] as Rule;
    if (!is(value)) refuse(`${name} must be ${words}.`);
  }
  const has = (name: string): boolean => Object.hasOwn(posted, name);
  const kinds = ["value", "values", "code", "skipped"].filter(has);
  if (kinds.length !== 1)
    refuse(
      `An outcome has one of value, values, code and skipped; this one has ${kinds.join(", ") || "none"}.`,
    );
  const due = ["id", ...(has("code") ? ["executed", "attempts"] : [])];
  const missing = due.find((name) => !has(name));
  if (missing) refuse(`${missing} is missing.`);
  return { ...posted, hasValue: has("value") || has("values") } as unknown as ReportedOutcome;
}
