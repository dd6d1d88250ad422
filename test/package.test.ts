import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyProject, root, run, temporaryFolder } from "./support/project.js";

const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
/** A project of a user's, with the packed package in its node_modules. */
let user: string;
let installed: string;
let files: string[];
let remove: () => Promise<void>;

beforeAll(async () => {
  const temporary = await temporaryFolder();
  remove = temporary.remove;
  const project = path.join(temporary.folder, "project");
  user = path.join(temporary.folder, "user");
  installed = path.join(user, "node_modules", "tunerank");
  await copyProject(project);
  await mkdir(installed, { recursive: true });
  const npm = ["pack", "--json", "--pack-destination", temporary.folder];
  const { exitCode, stdout, stderr } = await run("npm", npm, { cwd: project });
  if (exitCode !== 0) throw new Error(`npm pack failed:\n${stdout}\n${stderr}`);
  // What the build prints stands before npm's own answer.
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [
    { filename: string; files: { path: string }[] },
  ];
  files = packed.files.map((file) => file.path).sort();
  const tarball = path.join(temporary.folder, packed.filename);
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  for (const dependency of ["openapi-fetch", "openapi-typescript-helpers"]) {
    const from = path.join(root, "node_modules", dependency);
    await symlink(from, path.join(user, "node_modules", dependency), "junction");
  }
  await writeFile(path.join(user, "package.json"), '{"type":"module"}');
}, 60_000);
afterAll(() => remove());

describe("the tarball", () => {
  test("holds the package, its contract and its documents", () => {
    expect(files).toEqual(
      expect.arrayContaining([
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "dist/index.d.ts",
        "dist/index.js",
        "openapi.yaml",
        "package.json",
      ]),
    );
  });

  test("holds no source, test or script", () => {
    expect(files.filter((file) => !/^(dist\/|[A-Za-z.]+$)/.test(file))).toEqual([]);
    expect(files.filter((file) => /\.ts$/.test(file) && !/\.d\.ts$/.test(file))).toEqual([]);
    expect(files.filter((file) => /test|spec\b/i.test(file))).toEqual([]);
  });

  test("holds a source map with its source for every module", async () => {
    const modules = files.filter((file) => file.endsWith(".js"));
    expect(modules.length).toBeGreaterThan(0);
    for (const module of modules) {
      const code = await readFile(path.join(installed, module), "utf8");
      expect(code).toContain(`//# sourceMappingURL=${path.basename(module)}.map`);
      const map = JSON.parse(await readFile(path.join(installed, `${module}.map`), "utf8"));
      expect(map.sourcesContent?.[0]).toBeTypeOf("string");
    }
  });

  test("names no file that is not there", async () => {
    const manifest = JSON.parse(await readFile(path.join(installed, "package.json"), "utf8"));
    const named = JSON.stringify([manifest.exports, manifest.imports]).match(/\.\/dist\/[^"]+/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    for (const file of named) expect(files).toContain(file.slice(2));
  });
});

describe("the installed package on this Node", () => {
  const names = [
    "codeOfHttpStatus",
    "createClient",
    "httpStatusOfCode",
    "isStatusError",
    "StatusError",
    "throwIfFailed",
  ];
  const show =
    "console.log(Object.keys(m).sort().join()); m.createClient({ baseUrl: 'https://a.example', apiKey: 'k' });";
  const expected = `${[...names].sort().join()}\n`;

  test("can be imported", async () => {
    const code = `import * as m from "tunerank"; ${show}`;
    const outcome = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: user });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: expected });
  });

  test("can be required", async () => {
    const code = `const m = require("tunerank"); require.resolve("tunerank"); ${show}`;
    const outcome = await run(process.execPath, ["--input-type=commonjs", "-e", code], { cwd: user });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: expected });
  });

  test("makes a call over its own transport", async () => {
    const code = `
      import { createServer } from "node:http";
      import { createClient } from "tunerank";
      const server = createServer((request, response) => response.end(JSON.stringify({ agent: request.headers["user-agent"] })));
      server.listen(0, "127.0.0.1", async () => {
        const baseUrl = "http://127.0.0.1:" + server.address().port;
        const client = createClient({ baseUrl, apiKey: "k" });
        console.log((await client.rerank({ query: "q", documents: ["d"] })).agent);
        server.close();
      });`;
    const outcome = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: user });
    expect(outcome.stdout).toBe(`tunerank/${version} node/${process.versions.node}\n`);
  });
});

const consumer = `
import { createClient, isStatusError, throwIfFailed, type Client, type RerankRequest } from "tunerank";

const client: Client = createClient({ baseUrl: "https://api.example.com", apiKey: () => "key" });
const body: RerankRequest = { query: "q", documents: ["d"] };

export async function use(): Promise<number | undefined> {
  try {
    const { data, attempts } = await client.rerank(body, { timeoutMs: 5_000 }).withResponse();
    throwIfFailed(await client.reinforcementFineTuningJobs.resume("job-1"));
    await client.deployments.scale("prod", attempts.length);
    const { bytes } = await client.datasets.upload("reviews", new Uint8Array([1]), { name: "f" });
    return (data.data[0]?.relevance_score ?? 0) + bytes;
  } catch (error) {
    if (isStatusError(error, "NOT_FOUND")) return error.httpStatus;
    throw error;
  }
}
`;

describe.each([
  ["NodeNext", ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
  ["Bundler", ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
])(
  "a user's project with module resolution %s, without the types of Node or the DOM",
  (_name, module, moduleResolution) => {
    let program: ts.Program;
    let declarations: readonly ts.SourceFile[];

    beforeAll(async () => {
      const file = path.join(user, "use.ts");
      await writeFile(file, consumer);
      program = ts.createProgram([file], {
        module,
        moduleResolution,
        target: ts.ScriptTarget.ES2022,
        lib: ["lib.es2022.d.ts"],
        types: [],
        strict: true,
        skipLibCheck: false,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
      });
      declarations = program.getSourceFiles().filter(({ fileName }) => fileName.includes("/tunerank/dist/"));
    }, 30_000);

    test("type-checks, declarations included", () => {
      const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
        const text = ts.flattenDiagnosticMessageText(messageText, "\n");
        return `${file && path.relative(user, file.fileName)}: ${text}`;
      });
      expect(problems).toEqual([]);
    });

    test.each(["openapi-fetch", "operations[", "node:", "NodeJS."])(
      "sees no declaration that mentions %s",
      (text) => {
        expect(declarations.length).toBeGreaterThan(0);
        const mentioning = declarations.filter((declaration) => declaration.text.includes(text));
        expect(mentioning.map(({ fileName }) => path.relative(installed, fileName))).toEqual([]);
      },
    );
  },
);
