// The client that was written from contract/conformance/README.md alone passes; broken in one place, it fails there.
import { expect, test } from "vitest";
import { type Change, certifyClient, findPython } from "../support/conformance/clients.js";
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

interface Variant extends Omit<Change, "file"> {
  readonly name: string;
  /** The rows that must fail; no other may. */
  readonly fails: RegExp;
  /** The rows that it runs, one at a time: beside others, a request takes as long as the wait that it leaves out. */
  readonly alone?: string;
}

const variants: readonly Variant[] = [
  {
    name: "ignores Retry-After",
    from: "wait = max(asked, ",
    to: "wait = max(0, ",
    // Its own wait may be shorter than the 20 ms that a 429 asks for.
    fails: /^retries\/(success-after-(retry-after|times)|status-429-retry-after-ms\/)/,
  },
  {
    name: "never backs off",
    from: "random.random() *",
    to: "0 *",
    fails: /^retries\/backoff\//,
    alone: "retries/backoff",
  },
  {
    name: "retries resume",
    from: "column = operation if repeatable is None",
    to: 'column = operation.replace("resumeReinforcementFineTuningJob", "rerankDocuments") if repeatable is None',
    fails: /resumeReinforcementFineTuningJob$/,
  },
  {
    name: "retries 409",
    from: "    agree = named",
    to: '    row = {**row, "event": "gateway"} if status == 409 else row\n    named = named if status != 409 else None\n    agree = named',
    fails: /^retries\/(status-409|aborted-named)\//,
  },
  {
    name: "forgets the budget",
    from: "(self.budget < 10, ",
    to: "(False, ",
    fails: /^retries\/budget(-after-successes)?\//,
  },
  {
    name: "calls a lost connection no",
    from: 'return ServiceError(row["code"], f"The network failed ({name}).", row["executed"]',
    to: 'return ServiceError(row["code"], f"The network failed ({name}).", "no"',
    fails: /^retries\/(reset-before-headers|close-before-headers|success-after-(reset|body-truncated))\//,
  },
  {
    name: "throws on a good response",
    from: "if isinstance(value := _json(text)[0], dict) and",
    to: "if isinstance(value := _json(text)[0], list) and",
    fails: /^retries\/(success-(?!too-late)|budget-after-successes|incomplete-.*\/(resume|scale))/,
  },
  {
    name: "takes any JSON object for a good response",
    from: " and not _incomplete(operation, value):",
    to: ":",
    fails: /^retries\/(success-after-)?incomplete.*\/(rerank|upload)/,
  },
  {
    name: "takes a score that is null",
    from: "or not _number(score) for",
    to: "or not (score is None or _number(score)) for",
    fails: /^retries\/incomplete-(no-score|score-null|second-score)\/rerank/,
  },
  {
    name: "checks every field that the contract requires",
    from: 'return not isinstance(answer.get("id"), str)',
    to: 'return not all(isinstance(answer.get(name), str) for name in ("id", "object", "filename", "purpose"))',
    fails: /^retries\/success-that-is-newer\/upload/,
  },
  {
    name: "loses the message of HTML errors",
    from: 'return " ".join(words[0].split())[:200]',
    to: 'return ""',
    fails: /^(retries\/key-in-html\/|errors\/(nginx|cloudflare))/,
  },
  {
    name: "leaks the key into its error",
    from: 'functools.reduce(lambda text, key: text.replace(key, "[redacted]"), keys, message) or',
    to: "message or",
    fails: /^retries\/key-in-(message|text|html)\//,
  },
];

test.skipIf(!python).each(variants)(
  "a client that $name fails for its own rows",
  { timeout: 600_000 },
  async (variant) => {
    const { url, report, outcome } = await startRunner(...(variant.alone ? ["--only", variant.alone] : only));
    const changes = [{ ...variant, file: "client.py" }];
    await certifyClient("python", url, { changes, workers: variant.alone ? 1 : 16 });
    const failed = (await report()).rows.filter(({ result }) => result === "failed").map(({ id }) => id);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.filter((id) => !variant.fails.test(id))).toEqual([]);
    expect((await outcome).exitCode).toBe(1);
  },
);
