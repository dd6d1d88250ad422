// The clients in Go, Java and PHP, written from contract/conformance/README.md; where what they need is not found, they are skipped.
import { expect, test } from "vitest";
import { certifyClient, findGo, findJava, findPhp, type Language } from "../support/conformance/clients.js";
import { startRunner } from "../support/conformance/runner.js";

const hasGo = await findGo();
const hasJava = await findJava();
const hasPhp = await findPhp();

test.skipIf(!hasGo)(
  "the Go client passes every row but those of a 101 and of a connection closed early",
  { timeout: 600_000 },
  async () => {
    expect(await lackingIn("go")).toEqual(["early-close", "status-101"]);
  },
);

test.skipIf(!hasJava)(
  "the Java client passes every row but those of a 101, of what follows a response and of proxies with passwords",
  { timeout: 600_000 },
  async () => {
    expect(await lackingIn("java")).toEqual([
      "bytes-behind",
      "proxy-credentials",
      "proxy-environment",
      "status-101",
    ]);
  },
);

test.skipIf(!hasPhp)(
  "the PHP client passes every row but those of calls at the same time and of NO_PROXY",
  { timeout: 600_000 },
  async () => {
    expect(await lackingIn("php")).toEqual(["parallel", "proxy-environment"]);
  },
);

/** What a client lacks that fails no row. */
async function lackingIn(language: Language): Promise<readonly string[]> {
  const { url, report } = await startRunner();
  await certifyClient(language, url);
  const { rows, skippedFor } = await report();
  expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
  return Object.keys(skippedFor)
    .filter((name) => !name.startsWith("this machine"))
    .sort();
}
