// The client that was written from contract/conformance/README.md alone passes; broken in one place, it fails there.
import { expect, test } from "vitest";
import { type Change, certifyClient, findPython } from "../support/conformance/clients.js";
import { broken } from "../support/conformance/mutants.js";
import { startRunner } from "../support/conformance/runner.js";

const python = await findPython();

test.skipIf(!python)(
  "the Python client passes every row but those of an abort, a 101 and what follows a response",
  { timeout: 600_000 },
  async () => {
    const { url, report } = await startRunner();
    await certifyClient("python", url);
    const { rows, skippedFor, passed } = await report();
    expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
    const lacking = Object.keys(skippedFor).filter((name) => !name.startsWith("this machine"));
    expect(lacking.sort()).toEqual([
      "abort",
      "bytes-behind",
      "early-close",
      "proxy-environment",
      "status-101",
    ]);
    expect(passed).toBeGreaterThan(1000);
  },
);

// Rows of every rule that a variant breaks, and their neighbours.
const rows = [
  ...[
    "success-",
    "backoff",
    "budget",
    "incomplete-",
    "key-in",
    "status-503/",
    "status-409/",
    "aborted-named",
    "not-found-named",
  ],
  ...["status-429-retry-after-ms", "reset-before-headers", "close-before-headers/", "status-401-fresh-key/"],
].map((part) => `retries/${part}`);
const only = [...rows, "errors/nginx", "errors/cloudflare", "errors/envoy"].flatMap((part) => [
  "--only",
  part,
]);

// By mutant, or a change of its own: the rows that must fail; no other may. With a row's name it runs only these, one at a
// time: beside others, a request takes as long as the wait that it leaves out.
const variants: readonly (readonly [mutant: string | Change, fails: RegExp, alone?: string])[] = [
  // Its own wait may be shorter than the 20 ms that a 429 asks for.
  ["ignores-retry-after", /^retries\/(success-after-(retry-after|times)|status-429-retry-after-ms\/)/],
  ["no-wait", /^retries\/backoff\//, "retries/backoff"],
  ["repeats-resume", /\/(resume|upload|scale)\w+$/],
  ["repeats-409", /^retries\/(status-409|aborted-named)\//],
  ["no-budget", /^retries\/budget(-after-successes)?\//],
  [
    "lost-is-not-run",
    /^retries\/(reset-before-headers|close-before-headers|success-after-(reset|body-truncated))\//,
  ],
  [
    [
      "client.py",
      "if isinstance(value := _json(text)[0], dict) and",
      "if isinstance(value := _json(text)[0], list) and",
    ],
    /^retries\/(success-(?!too-late)|budget-after-successes|incomplete-.*\/(resume|scale))/,
  ],
  ["any-object", /^retries\/(success-after-)?incomplete.*\/(rerank|upload)/],
  ["score-of-null", /^retries\/incomplete-(no-score|score-null|second-score)\/rerank/],
  ["too-strict", /^retries\/success-that-is-newer\/upload/],
  [
    ["client.py", 'return " ".join(words[0].split())[:200]', 'return ""'],
    /^(retries\/key-in-html\/|errors\/(nginx|cloudflare))/,
  ],
  ["shows-the-key", /^retries\/key-in-(message|text|html)\//],
];

for (const [mutant, fails, alone] of variants) {
  const told = `a client that is broken by ${mutant} fails for its own rows`;
  test.skipIf(!python)(told, { timeout: 600_000 }, async () => {
    const { url, report, outcome } = await startRunner(...(alone ? ["--only", alone] : only));
    const changes = typeof mutant === "string" ? (broken.python[mutant] as readonly Change[]) : [mutant];
    await certifyClient("python", url, { changes, workers: alone ? 1 : 16 });
    const failed = (await report()).rows.filter(({ result }) => result === "failed").map(({ id }) => id);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.filter((id) => !fails.test(id))).toEqual([]);
    expect((await outcome).exitCode).toBe(1);
  });
}
