import { access, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksIn, blocksOf, writtenPages } from "../../docs/build/blocks.js";
import { canRun } from "../../docs/build/runBlocks.js";
import { commands } from "../../src/cli/program.js";
import { createTestService, type TestServer, type TestService } from "../../src/testing/index.js";
import { blocks } from "../support/guideBlocks.js";
import { root } from "../support/project.js";
import { runFile, runScript } from "../support/script.js";

// A guide is one file: it reads the same on the site, in the repository, in the package and for an assistant.
describe("a guide", () => {
  const pages = writtenPages();

  test("there are the pages that people read", () => {
    expect(pages).toEqual(expect.arrayContaining(["index.md", "guide/quickstart.md", "recipes/go.md"]));
  });

  describe.each(pages)("docs/%s", (page) => {
    const blocks = blocksOf(page);

    test("says of each block what is done with it, and why not", () => {
      for (const { does, why, line, prints } of blocks) {
        expect(does, `line ${line}: run, check or skip-check`).toBeDefined();
        if (does === "skip-check") expect(why, `line ${line}`).not.toBe("");
        // What is only checked prints nothing that was seen.
        if (prints !== undefined) expect(["run", "skip-check"], `line ${line}`).toContain(does);
      }
      const files = blocks.map(({ file }) => file);
      expect(new Set(files).size, `${files}`).toBe(files.length);
    });

    test("has no include, no component, and no block that needs a clone", async () => {
      const raw = await readFile(path.join(root, "docs", page), "utf8");
      // The home page begins with the lab alone, which is nothing to read.
      const text = page === "index.md" ? raw.replace(/^<FailureLab [^>]*\/>$/m, "") : raw;
      expect(text).not.toMatch(/<!--@include|^\s*<<<|^:::|<FailureLab|\{target=/m);
      // Else GitHub shows what is folded as its summary.
      expect(text).not.toMatch(/<summary>(?!.*<\/summary>$)/m);
      for (const block of blocks)
        expect(block.text).not.toMatch(/npm (ci|run)\b|git clone|(^|\s)(\.\.\/)?(src|examples)\//);
    });

    test("has links that lead somewhere in the repository", async () => {
      const text = await readFile(path.join(root, "docs", page), "utf8");
      for (const [, address = ""] of text
        .replaceAll(/^```.*?^```/gms, "")
        .matchAll(/\]\(([^)\s]+)[^)]*\)/g)) {
        if (/^([a-z]+:|#)/.test(address)) continue;
        expect(address, "a link of the site").not.toMatch(/^\//);
        await access(path.join(root, "docs", path.dirname(page), address.replace(/#.*/, "")));
      }
    });
  });

  // A package that another one only may use is not installed with it.
  test.each(pages.filter((page) => blocksOf(page).some(({ text }) => /^npm install /m.test(text))))(
    "docs/%s names all that its programs need where it says what to install",
    async (page) => {
      const found = blocksOf(page);
      const lines = found.flatMap(({ text }) => text.match(/^npm install .*$/gm) ?? []);
      const named = lines
        .flatMap((line) => line.split(" ").slice(2))
        .map((name) => name.replace(/(.)@.*/, "$1"));
      const imports = found
        .filter(({ language }) => language === "ts")
        .flatMap(({ text }) => [...text.matchAll(/ from "(?!node:|\.)((?:@[^/"]+\/)?[^/"]+)/g)])
        .map(([, name = ""]) => name);
      expect(named).toEqual(expect.arrayContaining([...new Set(imports), ...(await peersOf(imports))]));
    },
  );

  test("an output without a block above it is refused", () => {
    expect(() => blocksIn("guide/x.md", "```text prints\n1\n```\n")).toThrow("docs/guide/x.md:1: no block");
  });

  test("a block that needs a tool says how to find out whether it is here", () => {
    const [needing, other] = blocksIn("guide/x.md", '```sh run needs="false"\na\n```\n```sh run\nb\n```\n');
    expect(needing?.needs).toBe("false");
    expect([needing, other].map((block) => block && canRun(block))).toEqual([false, true]);
  });

  test("what is said between a block and its output is the command of its mock server, and of no other", () => {
    const [first, second] = blocksIn(
      "guide/x.md",
      "```ts run\na\n```\nWith `npx tunerank mock --fail scale:503`:\n```text prints\n1\n```\n```ts run\nb\n```\n",
    );
    expect([first?.service, first?.prints?.text]).toEqual(["npx tunerank mock --fail scale:503", "1\n"]);
    expect(second?.service).toBeUndefined();
  });
});

// The first minute: what a reader pastes works as it stands.
describe("the README", async () => {
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
      const named = commands
        .flatMap(({ examples }) => examples)
        .flatMap(([line]) => [...line.matchAll(/ (GET|POST|PATCH) (\S+)/g)]);
      expect(named.length).toBeGreaterThan(0);
      for (const [, method = "", route = ""] of named) {
        const { status } = await fetch(`${server.url}${route}`, { method });
        expect([404, 405], `${method} ${route}`).not.toContain(status);
      }
    } finally {
      await server.close();
    }
  });
});

describe("the examples", () => {
  const folder = path.join(root, "examples");
  const service: TestService = createTestService();
  let server: TestServer;

  beforeAll(async () => {
    server = await service.listen();
  });
  afterAll(() => server.close());

  // What each prints, and the requests it makes of the service it is given.
  const expected: Readonly<Record<string, readonly [printed: RegExp, requests: readonly string[]]>> = {
    rerank: [/^\d\.\d{3} If you forgot your password.*\n\d\.\d{3} .*\n$/, ["rerank"]],
    rerankItems: [/^\d\.\d{3} 23 Passwords\n$/, ["rerank"]],
    resume: [/^accounts\/acme\/reinforcementFineTuningJobs\/answer-quality JOB_STATE_RUNNING\n$/, ["resume"]],
    scale: [/^prod is scaling to zero\n$/, ["scale"]],
    testing: [/^three requests, one response\n$/, []],
    upload: [/8044 of 8044 bytes\nfile-\S+ train\.jsonl 8044\n$/, ["upload"]],
  };

  test("every example is run", async () => {
    const files = (await readdir(folder)).filter((file) => file.endsWith(".ts"));
    const names = files.map((file) => path.parse(file).name);
    expect(names.sort()).toEqual(Object.keys(expected).sort());
    for (const file of files) {
      const lines = (await readFile(path.join(folder, file), "utf8")).trimEnd().split("\n");
      expect(lines.length, file).toBeLessThanOrEqual(15);
    }
  });

  test.each(Object.entries(expected))("%s does what it says", async (name, [printed, operations]) => {
    service.reset();
    const { exitCode, stdout, stderr } = await runFile(path.join(folder, `${name}.ts`), {
      TUNERANK_BASE_URL: server.url,
      TUNERANK_API_KEY: "any",
      TUNERANK_ACCOUNT_ID: "acme",
    });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(printed);
    expect(service.requests.map(({ operation }) => operation)).toEqual(operations);
  });
});

/** Those packages that these only may use, and that the check needs to run the programs with them. */
async function peersOf(names: readonly string[]): Promise<string[]> {
  const folder = path.join(root, "checks/temporal");
  const read = async (file: string) => JSON.parse(await readFile(path.join(folder, file), "utf8"));
  const [{ dependencies }, { packages }] = await Promise.all([
    read("package.json"),
    read("package-lock.json"),
  ]);
  return names
    .flatMap((name) => Object.keys(packages[`node_modules/${name}`]?.peerDependenciesMeta ?? {}))
    .filter((peer) => Object.hasOwn(dependencies, peer));
}
