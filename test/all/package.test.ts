import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { access, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { installPackedPackage, type PackedPackage } from "../support/packedPackage.js";
import { type Outcome, root, run } from "../support/project.js";

const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
let packed: PackedPackage;

// It builds the whole package first.
beforeAll(async () => {
  packed = await installPackedPackage();
}, 600_000);
// A package that could not be packed has told so above.
afterAll(() => packed?.remove());

describe("the tarball", () => {
  test("holds no source map of a module, whose sources are not there", async () => {
    expect(packed.files.filter((file) => file.endsWith(".js.map"))).toEqual([]);
    for (const module of packed.files.filter((file) => file.endsWith(".js")))
      expect(await readFile(path.join(packed.installed, module), "utf8"), module).not.toContain(
        "sourceMappingURL",
      );
  });

  test("names in LICENSE what it contains of others", async () => {
    const text = await readFile(path.join(packed.installed, "LICENSE"), "utf8");
    const others = [...text.matchAll(/^(\S+) [\d.]+: (.*\(c\)|under the license)/gm)].map(([, name]) => name);
    expect(others).toEqual([
      "@modelcontextprotocol/core",
      "@modelcontextprotocol/server",
      "agent-base",
      "https-proxy-agent",
      "openapi-fetch",
      "openapi-typescript-helpers",
      "zod",
    ]);
    expect(text).toContain("Apache License\n");
  });

  test("holds the guides as Markdown, and their list", async () => {
    const list = await readFile(path.join(packed.installed, "dist/llms.txt"), "utf8");
    const listed = [...list.matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, file]) => `dist/${file}`);
    expect(listed).toEqual(expect.arrayContaining(["dist/docs/quickstart.md", "dist/docs/retries.md"]));
    expect([...listed].sort()).toEqual(packed.files.filter((file) => file.startsWith("dist/docs/")));
    const documents = [...list.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => file);
    expect(documents).toContain("CHANGELOG.md");
    for (const file of documents) expect(packed.files).toContain(file);
    for (const file of listed) {
      const text = await readFile(path.join(packed.installed, file), "utf8");
      // What only the site's builder reads: its includes, containers and tags.
      expect(text, file).not.toMatch(/<!--@include|^<<<|^:::|<div/m);
    }
  });

  test("has no link that leads nowhere; those of the README lead to files of the repository", async () => {
    const texts = packed.files.filter((file) => /\.(md|txt)$/.test(file));
    let links = 0;
    for (const file of texts) {
      const text = await readFile(path.join(packed.installed, file), "utf8");
      for (const [, address = ""] of text.replaceAll(/```.*?```/gs, "").matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^(https?:|mailto:|#)/.test(address)) continue;
        links += 1;
        const target = path.posix.join(path.posix.dirname(file), address.replace(/#.*/, ""));
        // npm shows the README with the repository's files behind its links.
        if (file === "README.md") await access(path.join(root, target));
        else expect(packed.files, `${address} in ${file}`).toContain(target);
      }
    }
    expect(links).toBeGreaterThan(20);
  });

  test("has a README of 60 to 90 lines that begins with the installation and the first call", async () => {
    const lines = (await readFile(path.join(packed.installed, "README.md"), "utf8")).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThanOrEqual(60);
    expect(lines.length).toBeLessThanOrEqual(90);
    expect(lines.indexOf("npm install tunerank")).toBeLessThan(10);
    expect(lines.indexOf('import { createClient } from "tunerank";')).toBeLessThan(15);
  });

  test("names no file that is not there", async () => {
    const manifest = JSON.parse(await readFile(path.join(packed.installed, "package.json"), "utf8"));
    const { main, types, typesVersions, exports } = manifest;
    const named = JSON.stringify([main, types, typesVersions, exports]).match(/\bdist\/[^"]+/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    for (const file of named) {
      const [start = "", end = ""] = file.split("*");
      expect(packed.files.filter((name) => name.startsWith(start) && name.endsWith(end))).not.toEqual([]);
    }
  });
});

describe("the installed package on this Node", () => {
  const env = { TUNERANK_API_KEY: canaryKey };
  test("gives its contract by name", async () => {
    const code = `
      import { readFileSync } from "node:fs";
      const read = (name) => readFileSync(new URL(import.meta.resolve("tunerank/" + name)), "utf8").slice(0, 20);
      const names = ["openapi.yaml", "openapi-client.yaml", "openapi.json", "openapi-client.json", "openapi-3.0.json", "openapi-client-3.0.json"];
      for (const name of names) console.log(JSON.stringify(read(name)));
      for (const name of ["EXTENSIONS.md", "CONTRACT-CHANGELOG.md"]) console.log(read(name).slice(0, 11));
      for (const name of ["errors", "errors.schema", "operations", "parameters", "retries", "retries.schema"]) console.log(read("conformance/" + name + ".json").slice(4, 13));
      for (const name of ["fern", "speakeasy"]) console.log(read("overlays/" + name + ".yaml").slice(0, 1));`;
    const outcome = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: packed.user });
    expect(outcome.stdout + outcome.stderr).toMatch(
      /^("openapi: 3\.1\.0.*"\n){2}("\{\\"openapi\\":\\"3\.1.*"\n){2}("\{\\"openapi\\":\\"3\.0.*"\n){2}# Extension\n# Changelog\n(.*\$schema.*\n){6}#\n#\n$/,
    );
  });

  test("calls the constructor of an error by its public name in every build", async () => {
    const stems = ["index", "index.server", "index.web"];
    const builds = [...stems.flatMap((stem) => [`${stem}.js`, `cjs/${stem}.js`]), "browser.js"];
    const code = `for (const build of ${JSON.stringify(builds)}) {
      const { createClient } = await import(${JSON.stringify(packed.installed)} + "/dist/" + build);
      const error = await createClient({ baseUrl: "https://a.example", apiKey: "k" }).rerank({}).catch((error) => error);
      console.log(error.constructor.name);
    }`;
    const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "-e", code]);
    expect(stderr + stdout).toBe("StatusError\n".repeat(builds.length));
  });

  test("makes a call over its own transport", async () => {
    const code = `
      import { createServer } from "node:http";
      import { createClient } from "tunerank";
      const server = createServer((request, response) => response.end(JSON.stringify({ data: [], agent: request.headers["user-agent"] })));
      server.listen(0, "127.0.0.1", async () => {
        const baseUrl = "http://127.0.0.1:" + server.address().port;
        const client = createClient({ baseUrl });
        console.log((await client.rerank({ query: "q", documents: ["d"] })).agent);
        server.close();
      });`;
    const outcome = await run(process.execPath, ["--input-type=module", "-e", code], {
      cwd: packed.user,
      env,
    });
    expect(outcome.stderr).toBe("");
    expect(outcome.stdout).toBe(`tunerank/${version} node/${process.versions.node}\n`);
  });
});

describe("tunerank/testing of the installed package", () => {
  const code = `
    import { createClient } from "tunerank";
    import { createTestService } from "tunerank/testing";
    const service = createTestService();
    const options = { baseUrl: "https://service.test", apiKey: "k", accountId: "acme", dangerouslyAllowBrowser: true };
    const client = createClient({ ...options, fetch: service.fetch });
    await client.datasets.upload("d", new Blob(["abc"]), { name: "f" });
    const { data } = await client.rerank({ query: "b", documents: ["a", "b"] });
    console.log(data[0].index, service.requests[0].file.sha256.slice(0, 8));`;

  test("is bundled for a browser without a module of Node's, and responds there", async () => {
    await writeFile(path.join(packed.user, "page.js"), code);
    const { outputFiles } = await build({
      entryPoints: [path.join(packed.user, "page.js")],
      bundle: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "silent",
    });
    const page = `delete globalThis.process; globalThis.document = {};\n${outputFiles[0]?.text}`;
    // Too long for an argument.
    await writeFile(path.join(packed.user, "page.mjs"), page);
    const outcome = await run(process.execPath, ["page.mjs"], { cwd: packed.user });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: "1 ba7816bf\n" });
  });
});

describe("the installed package in a browser", () => {
  async function inBrowser(code: string): Promise<Outcome> {
    const page = `
      globalThis.document = {};
      delete globalThis.process;
      const { createClient, isStatusError } = await import("tunerank");
      const options = { baseUrl: "https://api.example.com", apiKey: ${JSON.stringify(canaryKey)}, accountId: "acme" };
      ${code}`;
    const flags = ["--conditions=browser", "--input-type=module"];
    return await run(process.execPath, [...flags, "-e", page], { cwd: packed.user });
  }

  test("sends with the page's fetch once it is allowed, and cannot open paths", async () => {
    const { stdout, stderr } = await inBrowser(`
      globalThis.fetch = async (url, { method, headers, body }) => {
        const sent = typeof body === "string" ? body : await body.text();
        console.log(method, url, headers["user-agent"], sent.includes('filename="f.jsonl"'));
        return Response.json({ id: "file-1" });
      };
      const client = createClient({ ...options, dangerouslyAllowBrowser: true });
      await client.datasets.upload("reviews", new Blob(["x"]), { name: "f.jsonl" });
      await client.datasets.upload("reviews", "f.jsonl").catch((error) => console.log(error.code, error.executed));`);
    expect(stdout + stderr).toBe(
      `POST https://api.example.com/v1/accounts/acme/datasets/reviews:upload tunerank/${version} web true\n` +
        "INVALID_ARGUMENT no\n",
    );
  });
});

test.each(["openapi-fetch", "operations[", '"node:', "NodeJS."])(
  "no declaration mentions %s",
  async (text) => {
    const declarations = packed.files.filter((file) =>
      /^dist\/(?!cjs|adapters|types|generated\/paths).*\.d\.ts$/.test(file),
    );
    expect(declarations.length).toBeGreaterThan(20);
    const texts = declarations.map((file) => readFileSync(path.join(packed.installed, file), "utf8"));
    expect(declarations.filter((_, index) => texts[index]?.includes(text))).toEqual([]);
  },
);

interface Definition {
  readonly file: string;
  readonly contextStart: { readonly line: number };
}

/** Where "go to definition" leads: asks the server that editors use, as only it reads declaration maps. */
async function definitionOf(line: string, offset: number, folder: string): Promise<Definition> {
  const file = path.join(folder, "edited.ts");
  const server = createRequire(import.meta.url).resolve("typescript/lib/tsserver.js");
  const child = spawn(process.execPath, [server, "--disableAutomaticTypingAcquisition"], { cwd: folder });
  const requests = [
    { command: "open", arguments: { file, fileContent: line } },
    { command: "definition", arguments: { file, line: 1, offset: offset + 1 } },
  ];
  for (const [seq, request] of requests.entries())
    child.stdin.write(`${JSON.stringify({ seq, type: "request", ...request })}\n`);
  for await (const text of createInterface({ input: child.stdout })) {
    const message = text.startsWith("{") ? JSON.parse(text) : {};
    if (message.type !== "response" || message.command !== "definition") continue;
    child.kill();
    return message.body[0];
  }
  throw new Error("The server ended.");
}

test.each([
  ["tunerank", "createClient", "src/client.ts", "export function createClient("],
  ["tunerank", "StatusError", "src/errors/statusError.ts", "export class StatusError "],
  ["tunerank/bulk", "rerankAll", "src/bulk/index.ts", "export function rerankAll"],
])("the definition of %s's %s is its code", async (entry, name, source, code) => {
  const using = `import { ${name} } from "${entry}";`;
  const found = await definitionOf(using, using.indexOf(name) + 1, packed.user);
  expect(found.file).toBe(path.join(packed.installed, "dist", source));
  const lines = readFileSync(found.file, "utf8").split("\n");
  expect(lines[found.contextStart.line - 1]).toContain(code);
});

type Measure = (options: object) => Promise<Readonly<Record<string, readonly number[]>>>;
// It is JavaScript, without types.
const bench = await import(new URL("../../bench/scenarios.js", import.meta.url).href);
const { bundleSize, manyAtOnce, uploadMemory } = bench.scenarios as Readonly<
  Record<"bundleSize" | "manyAtOnce" | "uploadMemory", { readonly measure: Measure }>
>;
const entry = () => path.join(packed.installed, "dist", "index.js");

test("an upload of 150 MB from a path needs at most 40 MB of memory, also when it is repeated", async () => {
  const contestants = ["tunerank", "tunerank, one retry"];
  const megabytes = await uploadMemory.measure({ contestants, rounds: 1, entry: entry() });
  for (const contestant of contestants) expect(megabytes[contestant]?.[0]).toBeLessThanOrEqual(40);
});

test("2,000 calls at once all settle over at most 128 sockets", async () => {
  const figures = await manyAtOnce.measure({ calls: 2000, rounds: 1, entry: entry() });
  expect(figures["calls fulfilled"]).toEqual([2000]);
  expect(figures["sockets at the server"]?.[0]).toBeLessThanOrEqual(128);
  expect(figures["warnings of Node"]).toEqual([0]);
});

// bench/NOTES.md lists what each part costs.
test("what a page loads first has at most 17.5 kB, and all of it in one file 36.55 kB, minified and gzipped", async () => {
  const bytes = await bundleSize.measure({ entry: entry() });
  expect(bytes["loaded first, minified and gzipped"]?.[0]).toBeLessThanOrEqual(17_500);
  expect(bytes["all in one file, minified and gzipped"]?.[0]).toBeLessThanOrEqual(36_550);
});

// The processor's seconds of ten processes, as the shell that waited for them adds them up.
function secondsOfTen(...args: string[]): number {
  const script = 'i=0; while [ $i -lt 10 ]; do "$@" >/dev/null; i=$((i+1)); done; times';
  const said = execFileSync("sh", ["-c", script, "sh", process.execPath, ...args], { encoding: "utf8" });
  const times = [...(said.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

test("`tunerank --help` takes at most half as much again as an empty Node", () => {
  const command = path.join(packed.installed, "dist/cli/main.js");
  const empty = path.join(root, "bench/empty.js");
  // The least of four rounds by turns: what else runs on the machine only adds.
  let [own, bare] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 4; round++) {
    own = Math.min(own, secondsOfTen(command, "--help"));
    bare = Math.min(bare, secondsOfTen(empty));
  }
  expect(own / bare).toBeLessThanOrEqual(1.5);
});
