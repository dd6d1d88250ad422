// Each program of a first hour: how its users start it, and what it has to do.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { blockOf } from "../../docs/build/blocks.js";
import type { TestService } from "../../src/testing/index.js";
import { checkDoubles } from "./doubles.js";
import {
  bun,
  deno,
  environment,
  equal,
  here,
  node20,
  node24,
  printedBy,
  tool,
  until,
  withService,
} from "./processes.js";
import { checkReadme } from "./readme.js";

/** What every program is run with. */
export interface Place {
  readonly service: TestService;
  readonly baseUrl: string;
  readonly tarball: string;
}

type Program = (place: Place) => Promise<string>;

const variables = "TUNERANK_BASE_URL,TUNERANK_API_KEY,TUNERANK_ACCOUNT_ID";

/** Ranks, uploads and fails; then its tests in the runtime's own runner. */
function onCommandLine(folder: string, start: readonly string[], test?: readonly string[]): Program {
  return async ({ service, baseUrl }) => {
    service.fail("scale", { code: "NOT_FOUND" });
    writeFileSync(path.join(here(folder), "train.jsonl"), '{"prompt":"a"}\n');
    const lines = (await printedBy(start, here(folder), environment(baseUrl))).trim().split("\n");
    equal(lines.slice(0, 2), ["Paris", "train.jsonl 15"]);
    equal(lines[2]?.slice(0, 11), "[NOT_FOUND]");
    if (test === undefined) return "ranks, uploads and shows a failure";
    await printedBy(test, here(folder), environment(baseUrl));
    return "ranks, uploads, shows a failure, and its tests pass";
  };
}

/** Asks a service of ours to rank, and again while ours refuses. */
async function asked(url: string, { service }: Place): Promise<void> {
  const address = `${url}?q=${encodeURIComponent("capital of France")}`;
  equal(await (await fetch(address)).json(), ["Paris", "Rome"]);
  service.fail("rerank", { code: "PERMISSION_DENIED" });
  const refused = await fetch(address);
  const { code, message } = (await refused.json()) as Record<string, string>;
  equal([refused.status, code, message?.slice(0, 19)], [502, "PERMISSION_DENIED", "[PERMISSION_DENIED]"]);
}

const express: Program = async (place) => {
  const env = { ...environment(place.baseUrl), PORT: "0" };
  const command = [node20, "server.js"];
  await withService(command, { cwd: here("express"), env }, async ({ url, lines }) => {
    await asked(`${url}/search`, place);
    place.service.fail("rerank", { stall: true });
    const before = place.service.requests.length;
    const controller = new AbortController();
    const gone = fetch(`${url}/search?q=x`, { signal: controller.signal }).catch(() => "gone");
    await until(() => place.service.requests.length > before);
    controller.abort();
    equal(await gone, "gone");
    await until(() => lines.includes("CANCELLED"));
  });
  return "ranks, shows a failure, and its call ends when the client goes away";
};

const worker: Program = async (place) => {
  const folder = here("cloudflare-worker");
  const outfile = path.join(folder, "dist/worker.js");
  await build({
    entryPoints: [path.join(folder, "worker.ts")],
    outfile,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
  });
  const env = environment(place.baseUrl);
  await withService([node24, "serve.mjs", outfile], { cwd: folder, env }, ({ url }) => asked(url, place));
  return "ranks and shows a failure under miniflare";
};

const lambda: Program = async ({ service, baseUrl }) => {
  const folder = here("aws-lambda");
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

const next: Program = async (place) => {
  const cwd = here("next");
  const { text } = blockOf("recipes/nextjs.md", "route.js");
  for (const [runtime, route] of [
    ["node", text],
    ["edge", `export const runtime = "edge";\n${text}`],
  ] as const) {
    mkdirSync(path.join(cwd, "app", runtime), { recursive: true });
    writeFileSync(path.join(cwd, "app", runtime, "route.js"), route);
  }
  const program = tool("next/dist/bin/next");
  const quiet = { NEXT_TELEMETRY_DISABLED: "1", HOME: cwd };
  const { PATH = "" } = process.env;
  // Built without an environment, then served with one.
  await printedBy([node20, program, "build"], cwd, { PATH, ...quiet });
  const port = await freePort();
  const command = [node20, program, "start", "-H", "127.0.0.1", "-p", `${port}`];
  const env = { ...environment(place.baseUrl), ...quiet };
  await withService(command, { cwd, env, listens: ["Ready in", port] }, async ({ url }) => {
    for (const route of ["node", "edge"]) await asked(`${url}/${route}`, place);
  });
  return "ranks and shows a failure in a node and an edge route";
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const pnpm: Program = async ({ service, baseUrl, tarball }) => {
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

const denoRun = [deno, "run", "--no-prompt", "--allow-net=127.0.0.1", `--allow-env=${variables}`];

/** Every program by its name. */
export const programs: Readonly<Record<string, Program>> = {
  "Node 20, JavaScript": onCommandLine("node-javascript", [node20, "main.js"], [node20, "--test"]),
  "Node 20, TypeScript by tsx": onCommandLine("node-typescript", [
    node20,
    tool("tsx/dist/cli.mjs"),
    "main.ts",
  ]),
  "Node 24, types stripped": onCommandLine("node-typescript", [node24, "main.ts"]),
  Bun: onCommandLine("bun", [bun, "main.ts"], [bun, "test"]),
  Deno: onCommandLine(
    "deno",
    [...denoRun, "--allow-read=train.jsonl", "main.ts"],
    [deno, "test", "--no-prompt"],
  ),
  "Cloudflare worker, miniflare": worker,
  "AWS Lambda, by esbuild": lambda,
  Express: express,
  "Next, node and edge routes": next,
  "pnpm workspace, two versions": pnpm,
  "test doubles": checkDoubles,
  "the README alone": checkReadme,
};
