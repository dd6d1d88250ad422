// Does a badge mean it? Each broken Python client fails one of the rows that must tell, and the unbroken one none of them.
import { expect, test } from "vitest";
import { findPython } from "../support/conformance/clients.js";
import {
  broken,
  brokenClient,
  failedUnbroken,
  mutants,
  namesOf,
  survivorsOf,
} from "../support/conformance/mutants.js";

const python = await findPython();

test("there are sixty ways and more in which a client breaks, each once, and Python has them all", () => {
  const names = mutants.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(60);
  expect(new Set(names).size).toBe(names.length);
  expect([...namesOf("python")].sort()).toEqual([...names].sort());
  for (const language of ["go", "java"] as const)
    expect(Object.keys(broken[language]), `${language}: made, or said why not`).toEqual(names);
});

test.skipIf(!python)(
  "the unbroken client passes the rows that tell of a broken one",
  { timeout: 300_000 },
  async () => {
    expect(await failedUnbroken(brokenClient("python"))).toEqual([]);
  },
);

test.skipIf(!python)("every broken client fails one of its rows", { timeout: 900_000 }, async () => {
  const survivors = await survivorsOf(namesOf("python"), brokenClient("python"), 6);
  expect(survivors.map(({ name, why }) => `${name}: ${why}`)).toEqual([]);
});
