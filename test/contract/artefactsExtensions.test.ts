import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../support/project.js";
import { publishContract } from "../support/publishedContract.js";

const published = await publishContract();

/** Every value that the published contract gives to each extension. */
const used = new Map<string, unknown[]>();
for (const name of ["openapi.json", "openapi-client.json"]) {
  JSON.stringify(published.json(name), (key, value) => {
    if (key.startsWith("x-") && key !== "x-request-id") used.set(key, [...(used.get(key) ?? []), value]);
    return value;
  });
}

const text = readFileSync(path.join(root, "contract/EXTENSIONS.md"), "utf8");
const sections = text
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [name = ""] = section.split("\n");
    const [, example = ""] = /```yaml\n(.*?)```/s.exec(section) ?? [];
    return { name, example: parse(example) as Record<string, unknown> };
  });

test("EXTENSIONS.md describes exactly the extensions that the contract uses", () => {
  expect(used.size).toBe(16);
  expect(sections.map(({ name }) => name).sort()).toEqual([...used.keys()].sort());
});

test.each(sections)("the example of $name is one of the contract's own", ({ name, example }) => {
  expect(Object.keys(example)).toEqual([name]);
  expect(used.get(name)).toContainEqual(example[name]);
});
