import { afterEach, beforeEach, expect } from "vitest";

/** Fails each test of the calling file after which an error was left that nobody handled: it would end a process. */
export function expectNothingUnhandled(): void {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note).on("uncaughtException", note);
  });
  afterEach(() => {
    process.off("unhandledRejection", note).off("uncaughtException", note);
    expect(unhandled).toEqual([]);
  });
}
