// Services that rank for their own users: each is built and started as its users do, and asked over a port.

import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import path from "node:path";
import { build } from "esbuild";
import {
  environment,
  equal,
  node24,
  type Place,
  type Program,
  printedBy,
  type Running,
  until,
  withService,
} from "./processes.js";
import { placed } from "./starters.js";

/** How the users of a framework build and start a service. */
interface Service {
  readonly folder: string;
  readonly prepare?: (folder: string) => void;
  /** Built without an environment. */
  readonly build?: readonly (readonly string[])[];
  readonly start: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly routes?: readonly string[];
  /** Whether it tells its caller's mistakes from failures of the service. */
  readonly tells?: true;
  /** Where its user's file goes, if anywhere. */
  readonly upload?: string;
  readonly test?: readonly string[];
}

/** A service with one address: it ranks, shows a failure, ends its call when the client goes away. */
export function service(own: Service): Program {
  const { folder, prepare, build = [], start, routes = ["/search"], tells, upload, test } = own;
  return async (place) => {
    const cwd = placed(folder);
    prepare?.(cwd);
    const { PATH = "" } = process.env;
    const bare = { PATH, HOME: cwd, NO_COLOR: "1", CI: "1", ...own.env };
    for (const command of build) await printedBy(command, cwd, bare);
    const port = await freePort();
    const env = { ...environment(place.baseUrl), ...bare, HOST: "127.0.0.1", PORT: `${port}` };
    await withService(start, { cwd, env, port }, async (running) => {
      for (const route of routes) {
        const url = running.url + route;
        await ranks(place, url);
        if (tells) await mistaken(place, url);
        await goneAway(place, running, (signal) => fetch(`${url}?q=x`, { signal }));
      }
      if (upload !== undefined) await uploaded(place, running.url + upload);
    });
    if (test !== undefined) await printedBy(test, cwd, bare);
    const does = `ranks, shows a failure${upload ? ", uploads a File" : ""}`;
    return `${does}, and its call ends when the client goes away${test ? "; its test passes" : ""}`;
  };
}

async function ranks({ service }: Place, url: string): Promise<void> {
  const ask = async (query: string) => await fetch(`${url}?${new URLSearchParams({ q: query })}`);
  equal(await (await ask("capital of France")).json(), ["Paris", "Rome"]);
  service.fail("rerank", { code: "PERMISSION_DENIED" });
  const refused = await ask("capital of France");
  const { code, message } = (await refused.json()) as Record<string, string>;
  equal([refused.status, code, message?.slice(0, 19)], [502, "PERMISSION_DENIED", "[PERMISSION_DENIED]"]);
}

async function mistaken({ service }: Place, url: string): Promise<void> {
  const before = service.requests.length;
  const response = await fetch(url);
  const { code } = (await response.json()) as { code: string };
  equal([response.status, code, service.requests.length], [400, "INVALID_ARGUMENT", before]);
}

/** Leaves while the service still waits, and waits for its line of it. */
async function goneAway(
  { service }: Place,
  { lines }: Running,
  ask: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const cancelled = () => lines.filter((line) => line.includes("[CANCELLED]")).length;
  const [before, earlier] = [service.requests.length, cancelled()];
  service.fail("rerank", { stall: true });
  const controller = new AbortController();
  const gone = ask(controller.signal).catch(() => "gone");
  await until(() => service.requests.length > before);
  controller.abort();
  equal(await gone, "gone");
  await until(() => cancelled() > earlier);
}

// workerd sees that a connection was reset, not that its other half was closed.
async function reset(url: string, signal: AbortSignal): Promise<never> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  signal.addEventListener("abort", () => socket.resetAndDestroy());
  await once(socket, "close");
  throw new Error("It is closed.");
}

async function uploaded({ service }: Place, url: string): Promise<void> {
  const body = new FormData();
  body.append("file", new File(['{"prompt":"a"}\n'], "train.jsonl"));
  // A browser's form comes from the service's own page, perhaps through a proxy.
  const headers = { origin: new URL(url).origin, "x-forwarded-proto": "http" };
  const response = await fetch(url, { method: "POST", body, headers });
  equal(await response.json(), { filename: "train.jsonl", bytes: 15 });
  equal(service.requests.at(-1)?.operation, "upload");
}

/** A worker, bundled as Wrangler does and served by miniflare. */
function bundledWorker(folder: string): Promise<unknown> {
  return build({
    entryPoints: [path.join(folder, "worker.ts")],
    outfile: path.join(folder, "dist/worker.js"),
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
  });
}

export const worker: Program = async (place) => {
  const cwd = placed("cloudflare-worker");
  await bundledWorker(cwd);
  const env = environment(place.baseUrl);
  await withService([node24, "serve.mjs", "dist/worker.js"], { cwd, env }, async (running) => {
    await ranks(place, running.url);
    await goneAway(place, running, (signal) => reset(`${running.url}/?q=x`, signal));
    await uploaded(place, running.url);
  });
  return "ranks, shows a failure, uploads a File, and its call ends when the client goes away";
};

/** The same route on Node and at the edge. */
export function atTheEdge(folder: string): void {
  const route = readFileSync(path.join(folder, "app/search/route.js"), "utf8");
  mkdirSync(path.join(folder, "app/edge"));
  writeFileSync(path.join(folder, "app/edge/route.js"), `export const runtime = "edge";\n${route}`);
}

export const trpc: Program = async (place) => {
  const cwd = placed("trpc");
  const port = await freePort();
  const env = { ...environment(place.baseUrl), PORT: `${port}` };
  await withService([node24, "server.ts"], { cwd, env, port }, async (running) => {
    const asking = (query: string) => printedBy([node24, "client.ts", running.url, query], cwd, env);
    equal(await asking("capital of France"), "[ 'Paris', 'Rome' ]\n");
    place.service.fail("rerank", { code: "PERMISSION_DENIED" });
    equal((await asking("x")).slice(0, 23), "502 [PERMISSION_DENIED]");
    const address = `${running.url}/search?input=${encodeURIComponent('"x"')}`;
    await goneAway(place, running, (signal) => fetch(address, { signal }));
  });
  return "ranks and shows a failure through its typed client, and its call ends when the client goes away";
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
