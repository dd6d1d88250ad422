// The value that a client made of a good answer, against that answer.
import { isDeepStrictEqual } from "node:util";
import type { Cell } from "./cells.js";
import type { ReportedOutcome } from "./outcome.js";

/** What differs. @param text The outcome as it was posted: JSON.parse loses digits. */
export function valueDifferences(cell: Cell, outcome: ReportedOutcome, text: string): readonly string[] {
  if (!outcome.hasValue)
    return [`code: ${JSON.stringify(outcome.code)} instead of the value of a good answer`];
  const due = answerDue(cell);
  if (typeof due === "string" && typeof cell.asked.answer === "string")
    return outcome.value === due
      ? []
      : [`value: ${JSON.stringify(outcome.value)} instead of ${JSON.stringify(due)}`];
  const given = (exactly(text) as { readonly value: unknown }).value;
  const wanted = typeof due === "string" ? exactly(due) : due;
  const [is, should] = [given, wanted].map((value) => compared(value, cell, outcome.capabilities ?? []));
  const differ = Object.entries(should as object).filter(
    ([name, part]) => !isDeepStrictEqual((is as Record<string, unknown> | null)?.[name], part),
  );
  return differ.length === 0 ? [] : [`value: ${differ.map(([name]) => name).join(", ")} not as answered`];
}

// What the last request that is due is answered with; a client need not hand on an answer that has no fields.
function answerDue({ asked, steps, expected }: Cell): object | string {
  const { answer = {} } = asked;
  if (typeof answer !== "string" && Object.keys(answer).length === 0) return {};
  const step = steps[Math.min(expected.requests, steps.length) - 1];
  if (typeof answer === "string") return answer;
  return step && "answer" in step ? `${step.answer.body}` : {};
}

// Without the members that count only for a client that has more.
function compared(value: unknown, { comparedFor = {} }: Cell, capabilities: readonly string[]): unknown {
  const left = structuredClone(value);
  for (const [capability, pointers] of Object.entries(comparedFor)) {
    if (!capabilities.includes(capability)) for (const pointer of pointers) remove(left, pointer);
  }
  return left;
}

function remove(value: unknown, pointer: string): void {
  const names = pointer.slice(1).split("/");
  const last = names.pop() ?? "";
  let parent = value;
  for (const name of names) parent = (parent as Record<string, unknown> | undefined)?.[name];
  if (typeof parent === "object" && parent !== null) delete (parent as Record<string, unknown>)[last];
}

// An integer that a double cannot hold is compared digit by digit.
function exactly(text: string): unknown {
  const kept = text
    .replace(/^\ufeff/, "")
    .replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
      token.startsWith('"') ? token : `"digits ${token}"`,
    );
  return JSON.parse(kept);
}
