// Does a badge mean it? Each broken Python client fails one of the rows that must tell, and the unbroken one none of them.
import { expect, test } from "vitest";
import { findPython, type Language } from "../support/conformance/clients.js";
import {
  broken,
  brokenClient,
  failedUnbroken,
  mutants,
  namesOf,
  survivorsOf,
} from "../support/conformance/mutants.js";

const python = await findPython();

test("there are 140 ways and more in which a client breaks, each once, and each in two languages or more", () => {
  const names = mutants.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(140);
  expect(new Set(names).size).toBe(names.length);
  const languages = Object.keys(broken) as Language[];
  for (const language of languages)
    expect(names, language).toEqual(expect.arrayContaining([...namesOf(language)]));
  const isMade = (name: string) => languages.filter((language) => namesOf(language).has(name));
  expect(names.filter((name) => isMade(name).length < 2)).toEqual([]);
});

test("thirty of these ways and more were found in public, each with the address of its report", () => {
  const found = mutants.flatMap(({ found = [] }) => found);
  expect(found.length).toBeGreaterThanOrEqual(30);
});

test.skipIf(!python)(
  "the unbroken client passes the rows that tell of a broken one",
  { timeout: 300_000 },
  async () => {
    expect(await failedUnbroken(brokenClient("python"), namesOf("python"))).toEqual([]);
  },
);

test.skipIf(!python)("every broken client fails one of its rows", { timeout: 900_000 }, async () => {
  const survivors = await survivorsOf(namesOf("python"), brokenClient("python"), 8);
  expect(survivors.map(({ name, why }) => `${name}: ${why}`)).toEqual([]);
});
