// The package as users get it: built and packed from a copy of this project, installed in a new one. `npm run check:package` holds
// it against compilers, bundlers and package managers.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { access, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/cli/program.js";
import { createTestService } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { copyProject, type Outcome, root, run, temporaryFolder } from "../support/project.js";

const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
const { folder, remove } = await temporaryFolder();
afterAll(remove);
// A user's project, the package's own folder within it, and what the tarball holds.
const user = path.join(folder, "user");
const installed = path.join(user, "node_modules", "tunerank");
let files: readonly string[] = [];

beforeAll(async () => {
  const project = path.join(folder, "project");
  await copyProject(project);
  await mkdir(installed, { recursive: true });
  const npm = ["pack", "--json", "--pack-destination", folder];
  const { exitCode, stdout, stderr } = await run("npm", npm, { cwd: project });
  if (exitCode !== 0) throw new Error(`npm pack failed:\n${stdout}\n${stderr}`);
  // What the build prints stands before npm's own response.
  const [response] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [
    { filename: string; files: { path: string }[] },
  ];
  await run("tar", ["-xzf", path.join(folder, response.filename), "-C", installed, "--strip-components=1"]);
  for (const dependency of ["openapi-fetch", "openapi-typescript-helpers"]) {
    const from = path.join(root, "node_modules", dependency);
    await symlink(from, path.join(user, "node_modules", dependency), "junction");
  }
  await writeFile(path.join(user, "package.json"), '{"type":"module"}');
  files = response.files.map((file) => file.path).sort();
}, 600_000);

describe("the tarball", () => {
  test("holds no source map of a module, whose sources are not there", async () => {
    expect(files.filter((file) => file.endsWith(".js.map"))).toEqual([]);
    for (const module of files.filter((file) => file.endsWith(".js")))
      expect(await readFile(path.join(installed, module), "utf8"), module).not.toContain("sourceMappingURL");
  });

  test("names in LICENSE what it contains of others", async () => {
    const text = await readFile(path.join(installed, "LICENSE"), "utf8");
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
    const list = await readFile(path.join(installed, "dist/llms.txt"), "utf8");
    const listed = [...list.matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, file]) => `dist/${file}`);
    expect(listed).toEqual(expect.arrayContaining(["dist/docs/quickstart.md", "dist/docs/retries.md"]));
    expect([...listed].sort()).toEqual(files.filter((file) => file.startsWith("dist/docs/")));
    const documents = [...list.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => file);
    expect(documents).toContain("CHANGELOG.md");
    for (const file of documents) expect(files).toContain(file);
    for (const file of listed) {
      const text = await readFile(path.join(installed, file), "utf8");
      // What only the site's builder reads: its includes, containers and tags.
      expect(text, file).not.toMatch(/<!--@include|^<<<|^:::|<div/m);
    }
  });

  test("has no link that leads nowhere; those of the README lead to files of the repository", async () => {
    const texts = files.filter((file) => /\.(md|txt)$/.test(file));
    let links = 0;
    for (const file of texts) {
      const text = await readFile(path.join(installed, file), "utf8");
      for (const [, address = ""] of text.replaceAll(/```.*?```/gs, "").matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^(https?:|mailto:|#)/.test(address)) continue;
        links += 1;
        const target = path.posix.join(path.posix.dirname(file), address.replace(/#.*/, ""));
        // npm shows the README with the repository's files behind its links.
        if (file === "README.md") await access(path.join(root, target));
        else expect(files, `${address} in ${file}`).toContain(target);
      }
    }
    expect(links).toBeGreaterThan(20);
  });

  test("has a README of 60 to 90 lines that begins with the installation and the first call", async () => {
    const lines = (await readFile(path.join(installed, "README.md"), "utf8")).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThanOrEqual(60);
    expect(lines.length).toBeLessThanOrEqual(90);
    expect(lines.indexOf("npm install tunerank")).toBeLessThan(10);
    expect(lines.indexOf('import { createClient } from "tunerank";')).toBeLessThan(15);
  });
});

describe("the installed package on this Node", () => {
  test("gives its contract by name", async () => {
    const code = `
      import { readFileSync } from "node:fs";
      const read = (name) => readFileSync(new URL(import.meta.resolve("tunerank/" + name)), "utf8").slice(0, 20);
      const names = ["openapi.yaml", "openapi-client.yaml", "openapi.json", "openapi-client.json", "openapi-3.0.json", "openapi-client-3.0.json"];
      for (const name of names) console.log(JSON.stringify(read(name)));
      for (const name of ["EXTENSIONS.md", "CONTRACT-CHANGELOG.md"]) console.log(read(name).slice(0, 11));
      for (const name of ["errors", "errors.schema", "operations", "parameters", "retries", "retries.schema"]) console.log(read("conformance/" + name + ".json").slice(4, 13));
      for (const name of ["fern", "speakeasy"]) console.log(read("overlays/" + name + ".yaml").slice(0, 1));`;
    const outcome = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: user });
    expect(outcome.stdout + outcome.stderr).toMatch(
      /^("openapi: 3\.1\.0.*"\n){2}("\{\\"openapi\\":\\"3\.1.*"\n){2}("\{\\"openapi\\":\\"3\.0.*"\n){2}# Extension\n# Changelog\n(.*\$schema.*\n){6}#\n#\n$/,
    );
  });

  test("calls the constructor of an error by its public name in every build", async () => {
    const stems = ["index", "index.server", "index.web"];
    const builds = [...stems.flatMap((stem) => [`${stem}.js`, `cjs/${stem}.js`]), "browser.js"];
    const code = `for (const build of ${JSON.stringify(builds)}) {
      const { createClient } = await import(${JSON.stringify(installed)} + "/dist/" + build);
      const error = await createClient({ baseUrl: "https://a.example", apiKey: "k" }).rerank({}).catch((error) => error);
      console.log(error.constructor.name);
    }`;
    const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "-e", code]);
    expect(stderr + stdout).toBe("StatusError\n".repeat(builds.length));
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
    await writeFile(path.join(user, "page.js"), code);
    const { outputFiles } = await build({
      entryPoints: [path.join(user, "page.js")],
      bundle: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "silent",
    });
    const page = `delete globalThis.process; globalThis.document = {};\n${outputFiles[0]?.text}`;
    // Too long for an argument.
    await writeFile(path.join(user, "page.mjs"), page);
    const outcome = await run(process.execPath, ["page.mjs"], { cwd: user });
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
    return await run(process.execPath, [...flags, "-e", page], { cwd: user });
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
    const declarations = files.filter((file) =>
      /^dist\/(?!cjs|adapters|types|generated\/paths).*\.d\.ts$/.test(file),
    );
    expect(declarations.length).toBeGreaterThan(20);
    const texts = declarations.map((file) => readFileSync(path.join(installed, file), "utf8"));
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
  const found = await definitionOf(using, using.indexOf(name) + 1, user);
  expect(found.file).toBe(path.join(installed, "dist", source));
  const lines = readFileSync(found.file, "utf8").split("\n");
  expect(lines[found.contextStart.line - 1]).toContain(code);
});

type Measure = (options: object) => Promise<Readonly<Record<string, readonly number[]>>>;
// It is JavaScript, without types.
const bench = await import(new URL("../../bench/scenarios.js", import.meta.url).href);
const { bundleSize, manyAtOnce, uploadMemory } = bench.scenarios as Readonly<
  Record<"bundleSize" | "manyAtOnce" | "uploadMemory", { readonly measure: Measure }>
>;
const entry = () => path.join(installed, "dist", "index.js");

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
  const command = path.join(installed, "dist/cli/main.js");
  const empty = path.join(root, "bench/empty.js");
  // The least of four rounds by turns: what else runs on the machine only adds.
  let [own, bare] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 4; round++) {
    own = Math.min(own, secondsOfTen(command, "--help"));
    bare = Math.min(bare, secondsOfTen(empty));
  }
  expect(own / bare).toBeLessThanOrEqual(1.5);
});

// It says nothing that is not so: its commands, options and blocks, run against the mock.
describe("SKILL.md", () => {
  const service = createTestService();
  const work = path.join(folder, "work");
  let server: Awaited<ReturnType<typeof service.listen>>;
  let skill = "";

  beforeAll(async () => {
    server = await service.listen();
    skill = await readFile(path.join(installed, "dist/skills/tunerank/SKILL.md"), "utf8");
    const request = JSON.stringify({ id: "1", query: "q", documents: ["a"] });
    const files: Record<string, string | Uint8Array> = {
      "articles.txt": "Reset your password here.\n",
      "requests.jsonl": `${request}\n`,
      "train.jsonl": "{}\n",
      "test.jsonl.gz": gzipSync("{}\n"),
      "bin/tunerank": `#!/bin/sh\nexec node ${installed}/dist/cli/main.js "$@"\n`,
      "bin/npx": '#!/bin/sh\nexec "$@"\n',
    };
    for (const each of ["bin", ".local/share/bash-completion/completions"])
      await mkdir(path.join(work, each), { recursive: true });
    for (const [name, content] of Object.entries(files))
      await writeFile(path.join(work, name), content, { mode: 0o755 });
  });
  afterAll(() => server.close());

  const blocks = (language: string): string[] =>
    [...skill.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, text = ""]) => text);

  /** Runs a block; a server is stopped when it says that it listens. */
  async function runBlock(text: string): Promise<{ code: number | null; printed: string }> {
    // The address and the key are those of this mock; ports are free ones.
    const shell = text.replace(/^export .*$/m, "").replace(/--port \d+/, "--port 0");
    const env = {
      ...process.env,
      PATH: `${work}/bin:${process.env.PATH}`,
      HOME: work,
      TUNERANK_BASE_URL: server.url,
      TUNERANK_API_KEY: canaryKey,
      TUNERANK_ACCOUNT_ID: "acme",
    };
    const stdio = ["ignore", "pipe", "pipe"] as const;
    const child = spawn("sh", ["-ec", shell], { cwd: work, env, stdio: [...stdio], detached: true });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        printed += chunk;
        if (/listens on|GET \/next/.test(printed) && child.pid) process.kill(-child.pid, "SIGTERM");
      });
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, printed };
  }

  test("has at most 1,500 words, and its name, description and version", () => {
    expect(skill.split(/\s+/).length).toBeLessThanOrEqual(1500);
    expect(skill).toMatch(
      /^---\nname: tunerank\ndescription: .{50,1024}\nmetadata:\n {2}version: "\d.*"\n---\n/,
    );
  });

  test("names only commands and options that exist, and an example of each command", () => {
    const named = [...skill.matchAll(/\btunerank ([a-z]+)((?: [^\n`|]*)?)/g)].filter(
      ([, , rest = ""]) => !rest.startsWith(" package"),
    );
    const shown = named.flatMap(([, name = "", rest = ""]) => {
      const command = commands.find((each) => each.name === name);
      if (command === undefined) return [];
      for (const [option] of rest.matchAll(/--[a-z][\w-]*/g))
        expect(
          command.options.map(({ long }) => long),
          `tunerank ${name} ${option}`,
        ).toContain(option);
      return [name];
    });
    expect([...new Set(shown)].sort()).toEqual(commands.map((command) => command.name).sort());
  });

  test("every block of the shell runs against the mock", async () => {
    for (const text of blocks("sh")) {
      const { code, printed } = await runBlock(text);
      const isServer = /tunerank (mock|conformance)/.test(text);
      expect([text, printed, isServer || code === 0]).toEqual([text, printed, true]);
    }
    const operations = new Set(service.requests.map(({ operation }) => operation));
    expect(operations).toEqual(new Set(["rerank", "upload", "scale", "resume"]));
  });

  test("its program runs against the mock", async () => {
    const [text = ""] = blocks("ts");
    const file = path.join(user, "skill.mts");
    await writeFile(file, text);
    const env = { TUNERANK_BASE_URL: server.url, TUNERANK_API_KEY: canaryKey, TUNERANK_ACCOUNT_ID: "acme" };
    const tsx = path.join(root, "node_modules/tsx/dist/cli.mjs");
    const { stdout, stderr } = await run(process.execPath, [tsx, file], {
      cwd: user,
      env: { ...process.env, ...env },
    });
    expect([stderr, stdout]).toEqual([
      "",
      expect.stringMatching(/^Paris is the capital of France\. 0\.\d+\n$/),
    ]);
  });

  test("is printed, installed, and never written over a file of somebody else", async () => {
    const main = path.join(installed, "dist/cli/main.js");
    expect((await run(process.execPath, [main, "skill"])).stdout).toBe(skill);
    const skills = path.join(work, "skills");
    const install = () => run(process.execPath, [main, "skill", "--install", skills]);
    expect((await install()).exitCode).toBe(0);
    expect((await install()).exitCode).toBe(0);
    expect(await readFile(path.join(skills, "tunerank/SKILL.md"), "utf8")).toBe(skill);
    const commands = path.join(skills, "tunerank/references/commands.md");
    await writeFile(commands, "mine");
    await writeFile(
      path.join(skills, "tunerank/SKILL.md"),
      "<!-- Written by `tunerank skill`: a later version writes over it. -->",
    );
    const refused = await install();
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("is not from tunerank")]);
    expect(await readFile(commands, "utf8")).toBe("mine");
    // Nothing was written, not even the files that it could have.
    expect((await readFile(path.join(skills, "tunerank/SKILL.md"), "utf8")).length).toBeLessThan(100);
  });
});
