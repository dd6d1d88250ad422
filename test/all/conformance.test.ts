// Our own client over each transport, and the clients in four languages that were written from contract/conformance/README.md
// alone, certified by the command that certifies any other. Where what a language needs is not found, it is skipped.
import * as undici from "undici";
import { expect, test } from "vitest";
import { certifyOwnClient, hiddenByFetch } from "../support/conformance/certifyOwnClient.js";
import {
  certifyClient,
  findGo,
  findJava,
  findPhp,
  findPython,
  type Language,
} from "../support/conformance/clients.js";
import { certifyOverUndici, hiddenByUndici } from "../support/conformance/overUndici.js";
import { lackedIn, startRunner } from "../support/conformance/runner.js";

const always = () => true;
// `npm run prove` has a check of these clients, which also says how long each takes.
const ifAlone = (find: () => unknown) => () => !process.env.TUNERANK_PROVED && find();
const inLanguage = (language: Language) => (runner: string) => certifyClient(language, runner);

// Each with all that it lacks.
test.for<[string, () => unknown, (runner: string) => Promise<unknown>, readonly string[]]>([
  ["on Node", always, (runner) => certifyOwnClient(runner), []],
  [
    "over fetch",
    always,
    (runner) => certifyOwnClient(runner, () => ({ fetch: globalThis.fetch }), hiddenByFetch),
    // A row with a proxy's password is skipped for the proxy.
    hiddenByFetch.filter((name) => name !== "proxy-credentials"),
  ],
  ["over a dispatcher of undici", always, (runner) => certifyOverUndici(runner, undici), hiddenByUndici],
  [
    "in Python",
    ifAlone(findPython),
    inLanguage("python"),
    ["abort", "bytes-behind", "early-close", "proxy-environment", "status-101"],
  ],
  ["in Go", ifAlone(findGo), inLanguage("go"), ["early-close", "status-101"]],
  [
    "in Java",
    ifAlone(findJava),
    inLanguage("java"),
    ["bytes-behind", "proxy-credentials", "proxy-environment", "status-101"],
  ],
  ["in PHP", ifAlone(findPhp), inLanguage("php"), ["parallel", "proxy-environment"]],
])(
  "the client %s passes every row but those of what it lacks",
  { timeout: 300_000 },
  async ([, find, certify, lacking], { skip }) => {
    if (!(await find())) skip();
    const { url, outcome, report } = await startRunner();
    await certify(url);
    const told = await report();
    expect(told.rows.filter(({ result }) => result === "failed")).toEqual([]);
    expect(lackedIn(told)).toEqual([...lacking].sort());
    expect(told.passed).toBeGreaterThan(900);
    expect((await outcome).exitCode).toBe(0);
  },
);
