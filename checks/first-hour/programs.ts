// Each program of a first hour: how its users start it, and what it has to do.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { checkDoubles } from "./doubles.js";
import {
  bun,
  deno,
  environment,
  equal,
  here,
  node20,
  node24,
  type Program,
  printedBy,
  tool,
} from "./processes.js";
import { checkReadme } from "./readme.js";
import { atTheEdge, service, trpc, worker } from "./servers.js";
import { placed } from "./starters.js";

const variables = "TUNERANK_BASE_URL,TUNERANK_API_KEY,TUNERANK_ACCOUNT_ID";

/** Ranks, uploads and fails; then its tests in the runtime's own runner. */
function onCommandLine(folder: string, start: readonly string[], test?: readonly string[]): Program {
  return async ({ service, baseUrl }) => {
    const cwd = placed(folder);
    service.fail("scale", { code: "NOT_FOUND" });
    writeFileSync(path.join(cwd, "train.jsonl"), '{"prompt":"a"}\n');
    const lines = (await printedBy(start, cwd, environment(baseUrl))).trim().split("\n");
    equal(lines.slice(0, 2), ["Paris", "train.jsonl 15"]);
    equal(lines[2]?.slice(0, 11), "[NOT_FOUND]");
    if (test === undefined) return "ranks, uploads and shows a failure";
    await printedBy(test, cwd, environment(baseUrl));
    return "ranks, uploads, shows a failure, and its tests pass";
  };
}

const lambda: Program = async ({ service, baseUrl }) => {
  const folder = placed("aws-lambda");
  for (const [format, file] of [
    ["esm", "dist/handler.mjs"],
    ["cjs", "dist/handler.cjs"],
  ] as const) {
    const outfile = path.join(folder, file);
    const entryPoints = [path.join(folder, "handler.ts")];
    await build({ entryPoints, outfile, bundle: true, platform: "node", target: "node20", format });
    // As Lambda's own runtime loads a handler.
    const program = `import(${JSON.stringify(outfile)}).then(async (module) => {
      const { handler } = module.handler ? module : module.default;
      const event = { queryStringParameters: { q: "capital of France" } };
      for (const call of [1, 2]) console.log(JSON.stringify(await handler(event)));
    })`;
    service.fail("rerank", { code: "PERMISSION_DENIED" });
    const output = await printedBy([node20, "-e", program], folder, environment(baseUrl));
    const [refused, ranked] = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    equal([refused.statusCode, JSON.parse(refused.body).code], [502, "PERMISSION_DENIED"]);
    equal(ranked, { statusCode: 200, body: '["Paris","Rome"]' });
  }
  return "ranks and shows a failure, bundled as ESM and as CommonJS";
};

// Programs installed by other package managers, from the tarball and without a network.

export const pnpm: Program = async ({ service, baseUrl, tarball }) => {
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-workspace-"));
  const env = environment(baseUrl);
  const write = (file: string, value: object): void => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), JSON.stringify(value));
  };
  try {
    const older = await olderVersion(tarball, folder, env);
    const versions = { newer: tarball, older };
    write("package.json", { type: "module", dependencies: { newer: "workspace:*", older: "workspace:*" } });
    writeFileSync(path.join(folder, "pnpm-workspace.yaml"), "packages: [packages/*]\n");
    for (const [name, file] of Object.entries(versions)) {
      const dependencies = { tunerank: `file:${file}` };
      write(`packages/${name}/package.json`, {
        name,
        version: "1.0.0",
        type: "module",
        main: "search.js",
        dependencies,
      });
      cpSync(here("pnpm-workspace/search.js"), path.join(folder, `packages/${name}/search.js`));
    }
    cpSync(here("pnpm-workspace/app.js"), path.join(folder, "app.js"));
    await printedBy([node24, tool("pnpm/bin/pnpm.cjs"), "install", "--offline"], folder, env);
    service.fail("scale", { code: "NOT_FOUND", times: 2 });
    const printed = await printedBy([node20, "app.js"], folder, env);
    const [, own = "", other = ""] =
      /^(\S+) (\S+) false\ntrue true\ntrue true\nParis Paris\n$/.exec(printed) ?? [];
    if (own === other || other !== "0.0.1") throw new Error(printed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return "two versions in one process know each other's errors, and both rank";
};

/** The same package under another version. */
async function olderVersion(tarball: string, folder: string, env: Record<string, string>): Promise<string> {
  const script = `mkdir old && tar -xzf "$1" -C old && sed -i 's/"version": "[^"]*"/"version": "0.0.1"/' old/package/package.json && tar -czf old.tgz -C old package && rm -r old`;
  await printedBy(["sh", "-c", script, "sh", tarball], folder, env);
  return path.join(folder, "old.tgz");
}

/** The program of Node with JavaScript, which finds the package without a node_modules. */
export const yarn: Program = async ({ service, baseUrl, tarball }) => {
  const cwd = mkdtempSync(path.join(tmpdir(), "tunerank-yarn-"));
  const env = { ...environment(baseUrl), HOME: cwd };
  const yarn = [node24, tool("@yarnpkg/cli-dist/bin/yarn.js")];
  const files = {
    "package.json": JSON.stringify({ type: "module", dependencies: { tunerank: `file:${tarball}` } }),
    ".yarnrc.yml": "enableNetwork: false\nenableTelemetry: false\n",
    "yarn.lock": "",
    "train.jsonl": '{"prompt":"a"}\n',
  };
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(cwd, name), text);
    cpSync(placed("node-javascript"), cwd, { recursive: true });
    await printedBy([...yarn, "install"], cwd, env);
    service.fail("scale", { code: "NOT_FOUND" });
    const lines = (await printedBy([...yarn, "node", "main.js"], cwd, env)).trim().split("\n");
    equal(lines.slice(0, 2), ["Paris", "train.jsonl 15"]);
    equal([lines[2]?.slice(0, 11), existsSync(path.join(cwd, "node_modules"))], ["[NOT_FOUND]", false]);
    await printedBy([...yarn, "node", "--test"], cwd, env);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
  return "ranks, uploads, shows a failure, and its tests pass, without a node_modules";
};

const denoRun = [deno, "run", "--no-prompt", "--allow-net=127.0.0.1", `--allow-env=${variables}`];
const next = tool("next/dist/bin/next");
const vitest = [node24, tool("vitest/vitest.mjs"), "run"];

interface Row {
  /** What the docs show of it. */
  readonly file?: string;
  /** The package whose version is told. */
  readonly of?: string;
  /** Whether it needs the packages that CI does without. */
  readonly all?: true;
  readonly run: Program;
}

/** Every program by its name. */
export const programs: Readonly<Record<string, Row>> = {
  "Node 20, JavaScript": {
    file: "node-javascript/main.js",
    of: "node-20",
    run: onCommandLine("node-javascript", [node20, "main.js"], [node20, "--test"]),
  },
  "Node 20, TypeScript by tsx": {
    file: "node-typescript/main.ts",
    of: "tsx",
    run: onCommandLine("node-typescript", [node20, tool("tsx/dist/cli.mjs"), "main.ts"]),
  },
  "Node 24, types stripped": {
    file: "node-typescript/main.ts",
    of: "node-24",
    run: onCommandLine("node-typescript", [node24, "main.ts"]),
  },
  Bun: {
    file: "bun/main.ts",
    of: "@oven/bun-linux-x64",
    run: onCommandLine("bun", [bun, "main.ts"], [bun, "test"]),
  },
  Deno: {
    file: "deno/main.ts",
    of: "@deno/linux-x64-glibc",
    run: onCommandLine(
      "deno",
      [...denoRun, "--allow-read=train.jsonl", "main.ts"],
      [deno, "test", "--no-prompt"],
    ),
  },
  "Cloudflare worker, miniflare": { file: "cloudflare-worker/worker.ts", of: "miniflare", run: worker },
  "AWS Lambda, by esbuild": { file: "aws-lambda/handler.ts", of: "esbuild", run: lambda },
  Express: {
    file: "express/server.js",
    of: "express",
    run: service({ folder: "express", start: [node20, "server.js"], tells: true }),
  },
  "Next, node and edge routes": {
    file: "next/route.js",
    of: "next",
    run: service({
      folder: "next",
      prepare: atTheEdge,
      build: [[node20, next, "build"]],
      start: [node20, next, "start", "-H", "127.0.0.1"],
      env: { NEXT_TELEMETRY_DISABLED: "1" },
      routes: ["/search", "/edge"],
      tells: true,
      upload: "/search",
    }),
  },
  Hono: {
    file: "hono/app.ts",
    of: "hono",
    all: true,
    run: service({ folder: "hono", start: [node24, "server.ts"], upload: "/upload", test: vitest }),
  },
  SvelteKit: {
    file: "sveltekit/+server.ts",
    of: "@sveltejs/kit",
    all: true,
    run: service({
      folder: "sveltekit",
      build: [[node24, tool("vite/bin/vite.js"), "build"]],
      start: [node24, "build/index.js"],
      env: { PROTOCOL_HEADER: "x-forwarded-proto" },
      upload: "/search",
    }),
  },
  "Nitro, the server of Nuxt": {
    file: "nitro/search.ts",
    of: "nitropack",
    all: true,
    run: service({
      folder: "nitro",
      build: [[node24, tool("nitropack/dist/cli/index.mjs"), "build"]],
      start: [node24, ".output/server/index.mjs"],
    }),
  },
  Astro: {
    file: "astro/search.ts",
    of: "astro",
    all: true,
    run: service({
      folder: "astro",
      build: [[node24, tool("astro/bin/astro.mjs"), "build"]],
      start: [node24, "dist/server/entry.mjs"],
      env: { ASTRO_TELEMETRY_DISABLED: "1" },
      upload: "/search",
    }),
  },
  "React Router 7": {
    file: "react-router/search.ts",
    of: "react-router",
    all: true,
    run: service({
      folder: "react-router",
      build: [[node24, tool("@react-router/dev/bin.js"), "build"]],
      start: [node24, tool("@react-router/serve/bin.js"), "build/server/index.js"],
      upload: "/search",
    }),
  },
  Nest: {
    file: "nest/main.ts",
    of: "@nestjs/core",
    all: true,
    run: service({
      folder: "nest",
      build: [[node20, tool("typescript/bin/tsc")]],
      start: [node20, "dist/main.js"],
      tells: true,
    }),
  },
  tRPC: { file: "trpc/server.ts", of: "@trpc/server", all: true, run: trpc },
  "pnpm workspace, two versions of tunerank": { file: "pnpm-workspace/search.js", of: "pnpm", run: pnpm },
  "yarn, Plug'n'Play": { file: "node-javascript/main.js", of: "@yarnpkg/cli-dist", all: true, run: yarn },
  "test doubles": { run: checkDoubles },
  "the README alone": { run: checkReadme },
};
