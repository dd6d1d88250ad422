// Does a badge mean it? Each broken Python client fails one of the rows that must tell, and the unbroken one none of them.
import { expect, test } from "vitest";
import {
  brokenPython,
  failedUnbroken,
  mutants,
  namesOf,
  survivorsOf,
} from "../support/conformance/mutants.js";
import { findPython } from "../support/conformance/pythonClient.js";

const python = await findPython();

test("there are sixty ways and more in which a client breaks, each once, and Python has them all", () => {
  const names = mutants.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(60);
  expect(new Set(names).size).toBe(names.length);
  expect([...namesOf("python")].sort()).toEqual([...names].sort());
  expect([...namesOf("go")].filter((name) => !names.includes(name))).toEqual([]);
});

test.skipIf(!python)(
  "the unbroken client passes the rows that tell of a broken one",
  { timeout: 300_000 },
  async () => {
    expect(await failedUnbroken(await brokenPython())).toEqual([]);
  },
);

test.skipIf(!python)("every broken client fails one of its rows", { timeout: 900_000 }, async () => {
  expect(await survivorsOf(namesOf("python"), await brokenPython(), 6)).toEqual([]);
});
