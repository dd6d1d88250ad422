import { expect } from "vitest";
import type { StatusError } from "../../src/index.js";

/** The whole message of an error whose text is known: the text as a sentence, then the error's hint. */
export function withHint(text: string, { hint }: Pick<StatusError, "hint">): string {
  expect(hint).toMatch(/^([A-Z].*\.)?$/);
  return `${/[.!?:]$/.test(text) ? text : `${text}.`} ${hint}`.trimEnd();
}

/** What an error says happened: its message without the hint at its end. */
export function textOf({ message, hint }: Pick<StatusError, "message" | "hint">): string {
  const end = hint === "" ? "" : ` ${hint}`;
  expect(message.endsWith(end)).toBe(true);
  return message.slice(0, message.length - end.length);
}
