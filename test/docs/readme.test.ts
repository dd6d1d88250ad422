// The first minute: what a reader pastes works as it stands.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { helpExamples } from "../../src/cli/help.js";
import { createTestService } from "../../src/testing/index.js";
import { blocks } from "../support/guideBlocks.js";
import { root } from "../support/project.js";
import { runScript } from "../support/script.js";

const readme = await readFile(path.join(root, "README.md"), "utf8");
const fences = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text = ""]) => ({
  page: "README.md",
  language,
  text,
}));
const shell = [...fences, ...blocks].filter(({ language }) => language === "sh");

test("the first call stands in the first twenty lines, and a clone is set up by two lines to copy", () => {
  const lines = readme.split("\n");
  expect(lines.findIndex((line) => line.includes("await client.rerank("))).toBeLessThan(20);
  expect(lines).toContain("npm ci && npm run demo");
  expect(lines).toContain("npm ci && npm test");
});

test("no block goes on after it has started the mock server, which listens only a moment later", () => {
  const starts = shell.filter(({ text }) => /^\s*npx tunerank mock/m.test(text));
  expect(starts.map(({ page }) => page)).toEqual(
    expect.arrayContaining(["README.md", "guide/quickstart.md"]),
  );
  for (const { page, text } of starts) {
    expect(text.trimEnd().split("\n").at(-1), page).toMatch(/^npx tunerank mock[^&#]*$/);
  }
});

test("no line that is pasted has a comment: zsh hands its words to the command, or takes # for one", () => {
  // What begins with #! is a file.
  for (const { page, text } of shell.filter((block) => !block.text.startsWith("#!")))
    expect(text, page).not.toMatch(/^([^#\n]+\s)?#/m);
});

test("client.request of the README, and the paths of the help, are something that the mock server knows", async () => {
  const service = createTestService();
  const server = await service.listen();
  try {
    const [example = ""] = /^await client\.request\(.*?\);/m.exec(readme) ?? [];
    const program = `import { createClient } from "./src/index.ts";
      const [client, query, documents] = [createClient(), "capital of France", ["Rome.", "Paris, capital."]];
      console.log(JSON.stringify(${example.replace(/;$/, "")}));`;
    const { exitCode, stdout, stderr } = await runScript(program, { TUNERANK_BASE_URL: server.url });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ object: "list", data: [{}, {}] });
    const named = (helpExamples.request ?? []).flatMap(([line]) => [
      ...line.matchAll(/ (GET|POST|PATCH) (\S+)/g),
    ]);
    expect(named.length).toBeGreaterThan(0);
    for (const [, method = "", route = ""] of named) {
      const { status } = await fetch(`${server.url}${route}`, { method });
      expect([404, 405], `${method} ${route}`).not.toContain(status);
    }
  } finally {
    await server.close();
  }
});
