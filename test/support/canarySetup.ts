// Vitest's setup of every test file: fails each test, and the file, whose errors, events, responses or output show the key.
import { afterAll, afterEach } from "vitest";
import { startWatch, takeLeaks } from "./canary.js";

// Node's fetch sets its own dispatcher for all when it is first touched; the package undici would set another one before.
void globalThis.Response;

startWatch();

afterEach(() => expectNoLeak());
afterAll(() => expectNoLeak());

function expectNoLeak(): void {
  const leaks = [...new Set(takeLeaks())];
  if (leaks.length > 0) throw new Error(`The key was shown:\n${leaks.join("\n")}`);
}
