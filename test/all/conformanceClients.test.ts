// The clients in four languages, written from contract/conformance/README.md alone; where what one needs is not found, it is
// skipped.
import { expect, test } from "vitest";
import {
  certifyClient,
  findGo,
  findJava,
  findPhp,
  findPython,
  type Language,
} from "../support/conformance/clients.js";
import { startRunner } from "../support/conformance/runner.js";

// Each with all that it lacks.
const clients: readonly (readonly [Language, () => Promise<unknown>, readonly string[]])[] = [
  ["python", findPython, ["abort", "bytes-behind", "early-close", "proxy-environment", "status-101"]],
  ["go", findGo, ["early-close", "status-101"]],
  ["java", findJava, ["bytes-behind", "proxy-credentials", "proxy-environment", "status-101"]],
  ["php", findPhp, ["parallel", "proxy-environment"]],
];

test.for(clients)(
  "the client in %s passes every row but those of what it lacks",
  {
    timeout: 600_000,
  },
  async ([language, find, lacking], { skip }) => {
    if (!(await find())) skip();
    const { url, report } = await startRunner();
    await certifyClient(language, url);
    const { rows, skippedFor, passed } = await report();
    expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
    const lacks = Object.keys(skippedFor).filter((name) => !name.startsWith("this machine"));
    expect(lacks.sort()).toEqual(lacking);
    expect(passed).toBeGreaterThan(1000);
  },
);
