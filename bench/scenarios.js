// What is measured: one figure each of many contestants, or several figures of this package. By name, as results.json has
// them; `measure` returns the samples of each contestant or figure.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { bulkStart } from "./bulkStart.js";
import { allClients, bulkClients, overDispatch } from "./contestants.js";
import {
  alternate,
  childEnvironment,
  childScript,
  control,
  makeCertificate,
  median,
  runChild,
  runCurl,
  withFolder,
  withServer,
  withUploadFile,
} from "./tools.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const shipped = path.join(here, "../dist/index.js");
const empty = "empty process";
const emptyScript = path.join(here, "empty.js");

// fetch and those above it need thousands of calls before their cost settles, node:http and tunerank 20,000.
const longLoad = { warmUpCalls: 20_000, warmUpMs: 2000, measureMs: 1500 };
const quickLoad = { warmUpCalls: 2000, warmUpMs: 500, measureMs: 700 };

// What calls are compared with where nobody else takes part: the least that can be, below this package and beside it.
const floors = ["tunerank", "tunerankDispatcher", "nodeHttp", "undiciPool"];

/**
 * Rerank calls: each sample in a process of its own, by turns.
 * @param figure `cpu` or `time` of a call, in microseconds; or `connections`, of all calls of a process
 * @param setting How it is called, by whom and how often; `rerankWith` is the response's name in `server.js`
 */
function calls(title, figure, setting = {}) {
  const { concurrency = 16, delayMs, isOverTls = false, isHttp2, rerankWith, requests = 10_000 } = setting;
  const { rounds = 3, clients = floors, child = "callCost", load = longLoad } = setting;
  const { body = "small", failsWith, mayFailWith, quickLoad: quickly = quickLoad } = setting;
  const unit = figure === "connections" ? "" : (setting.unit ?? "µs");
  const measure = ({ quick, ...options }) =>
    withFolder((folder) => {
      const tls = isOverTls ? makeCertificate(folder) : undefined;
      const env = tls && { NODE_EXTRA_CA_CERTS: tls.cert };
      return withServer({ delayMs, tls, isHttp2, rerankWith }, (baseUrl) => {
        const kind = { body, failsWith, mayFailWith, requests: quick ? 2000 : requests };
        const input = { baseUrl, concurrency, ...kind, ...(quick ? quickly : load) };
        const connections = async () => (await control(baseUrl, "GET", "/stats")).connections;
        return alternate(quick ? 1 : rounds, clients, async (client) => {
          const before = await connections();
          const figures = await runChild(child, { ...input, client }, { ...options, env });
          const value = { ...figures, connections: (await connections()) - before }[figure];
          return unit === "ms" ? value / 1000 : value;
        });
      });
    });
  return { title, unit, measure, setting };
}

/** Takes the median of an empty process off every sample. */
function minusEmpty({ [empty]: none, ...samples }, names = Object.keys(samples)) {
  for (const name of names) samples[name] = samples[name].map((value) => value - median(none));
  return samples;
}

/**
 * Figures of this package alone, of each round those of `run`.
 * @param rounds How many, and how many with `quick`
 */
function figures(title, rounds, run) {
  const measure = async ({ quick, rounds: asked = rounds[quick ? 1 : 0], ...options }) => {
    const samples = {};
    for (let round = 0; round < asked; round++)
      for (const [name, value] of Object.entries(
        await withServer({}, (baseUrl) => run({ baseUrl, quick, ...options })),
      ))
        samples[name] = [...(samples[name] ?? []), value];
    return samples;
  };
  return { title, unit: "", measure };
}

const overTls = { isOverTls: true };
const bulk = (what, figure) =>
  calls(`Bulk: ${what} per small request, concurrency 16 (other clients: with p-limit)`, figure, {
    clients: bulkClients,
    child: "bulk",
  });
// Calls that are not the plain one: each beside what has the same written by hand.
const special = {
  clients: ["tunerank", "tunerankDispatcher", "nodeHttpByHand", "undiciPoolByHand"],
};
// A call of 10 MB takes a tenth of a second: few of them settle.
const largeLoad = { warmUpCalls: 20, warmUpMs: 1000, measureMs: 3000 };
const large = {
  ...special,
  concurrency: 1,
  load: largeLoad,
  quickLoad: { ...largeLoad, warmUpCalls: 5 },
  unit: "ms",
};
// With all of the machine's memory the collector waits as long as it likes: how long says nothing of what is needed.
const smallHeap = ["--max-old-space-size=96"];
const watched = ["--expose-gc", "--no-warnings"];

export const scenarios = {
  cpuPerCall: calls("CPU per small rerank call, concurrency 16", "cpu", {
    clients: [...allClients, ...overDispatch],
  }),
  cpuOneAtATime: calls("CPU per small rerank call, one at a time", "cpu", { concurrency: 1 }),
  cpuSlowResponses: calls("CPU per small rerank call, 64 at once, responses after 20 ms", "cpu", {
    concurrency: 64,
    delayMs: 20,
  }),
  cpuOverTls: calls("CPU per small rerank call over TLS, concurrency 16", "cpu", overTls),
  connectionsOverTls: calls("Connections at the server, 16 calls at once over TLS", "connections", {
    ...overTls,
    rounds: 3,
    load: quickLoad,
  }),
  timeOnOneCore: calls(
    "Time per small rerank call, 64 at once: one process that uses its core fully",
    "time",
    {
      concurrency: 64,
    },
  ),
  bulkCpu: bulk("CPU", "cpu"),
  bulkTime: bulk("time", "time"),
  bulkLongTime: calls("Bulk: time per small request in a run of 50,000, concurrency 16", "time", {
    clients: ["tunerank", "tunerankDispatcher", "nodeHttp"],
    child: "bulk",
    requests: 50_000,
  }),
  cpuHttp2: calls("CPU per small rerank call over HTTP/2, concurrency 16", "cpu", {
    isOverTls: true,
    isHttp2: true,
    clients: ["tunerankHttp2", "nodeHttp2", "undiciPoolHttp2"],
  }),
  cpuGzip: calls("CPU per rerank call with 40 documents, the response gzipped, concurrency 16", "cpu", {
    ...special,
    body: "medium",
    rerankWith: "gzip",
  }),
  cpuNotFound: calls("CPU per small rerank call that fails with 404, concurrency 16", "cpu", {
    ...special,
    rerankWith: "notFound",
    failsWith: 404,
  }),
  cpuRetried: calls("CPU per small rerank call, one of 20 retried after a 503, concurrency 16", "cpu", {
    ...special,
    rerankWith: "everyTwentiethFails",
    // By chance, a call's retries are each the 20th again.
    mayFailWith: 503,
  }),
  cpuLargeResponse: calls("CPU per rerank call with a response of 10 MB, one at a time", "cpu", {
    ...large,
    rerankWith: "tenMegabytes",
  }),
  cpuLongDocuments: calls(
    "CPU per rerank call with 1,000 documents of 10,000 characters, one at a time",
    "cpu",
    {
      ...large,
      body: "longDocuments",
      rerankWith: "short",
    },
  ),
  manyDocuments: calls("Rerank with 10,000 documents of 1 KB, each sent back, CPU", "cpu", {
    clients: ["tunerank", "nodeHttp"],
    rounds: 9,
    concurrency: 1,
    body: "large",
    unit: "ms",
    load: { warmUpCalls: 5, warmUpMs: 0, measureMs: 2500 },
    quickLoad: { warmUpCalls: 3, warmUpMs: 0, measureMs: 1000 },
  }),

  idleCost: {
    title: "CPU of each second with one small rerank call",
    unit: "µs",
    measure: ({ quick, ...options }) =>
      // Side by side: each counts its own CPU, and nearly all of it is waiting.
      withServer({}, async (baseUrl) => {
        const run = async (client) => {
          const input = { baseUrl, client, seconds: quick ? 3 : 15 };
          return [client, [(await runChild("idle", input, options)).cpu]];
        };
        return Object.fromEntries(await Promise.all(floors.map(run)));
      }),
  },

  inFlightMemory: {
    title: "1,000 calls in flight, peak memory minus an empty process",
    unit: "MB",
    async measure({ quick, calls = 1000, ...options }) {
      const clients = ["tunerank", "tunerankDispatcher", "nodeHttp", "undiciPool", "fetch"];
      const peak = (client) => (baseUrl) => runChild("inFlight", { baseUrl, calls, client }, options);
      const samples = await alternate(quick ? 1 : 7, [...clients, empty], async (name) => {
        const { peakBytes } = await withServer({}, peak(name === empty ? undefined : name));
        return peakBytes / 1e6;
      });
      return minusEmpty(samples);
    },
  },

  startUp: {
    title: "Process start to first response, minus an empty process",
    unit: "ms",
    measure: ({ quick, node = process.execPath, entry = shipped }) =>
      withServer({}, async (baseUrl) => {
        const names = [...allClients, ...overDispatch, empty];
        const samples = await alternate(quick ? 3 : 15, names, (client) => {
          const args = [childScript, "firstResponse", JSON.stringify({ client, baseUrl })];
          return millisecondsOf(node, client === empty ? [emptyScript] : args, childEnvironment(entry));
        });
        return minusEmpty(samples);
      }),
  },

  commandLine: {
    title: "A whole run of the command line: process start to its end, one small call",
    unit: "ms",
    measure: ({ quick, node = process.execPath }) =>
      withServer({}, (baseUrl) => {
        const own = {
          TUNERANK_BASE_URL: baseUrl,
          TUNERANK_API_KEY: "bench-key",
          TUNERANK_ACCOUNT_ID: "bench",
        };
        const runs = {
          "tunerank scale": [path.join(here, "../dist/cli/main.js"), "scale", "prod", "0"],
          nodeHttp: [childScript, "firstResponse", JSON.stringify({ client: "nodeHttp", baseUrl })],
          [empty]: [emptyScript],
        };
        const env = { ...process.env, ...own };
        return alternate(quick ? 3 : 25, Object.keys(runs), (name) => millisecondsOf(node, runs[name], env));
      }),
  },

  uploadTime: {
    title: "150 MB upload from a path, wall time",
    unit: "ms",
    measure: ({ quick, ...options }) =>
      upload(
        quick ? 5 : 11,
        ["tunerank", "nodeHttp", "curl", "undici", "fetch", "openai"],
        options,
        "milliseconds",
      ),
  },

  uploadMemory: {
    title: "The same upload, peak memory minus an empty process (curl: all of it)",
    unit: "MB",
    async measure({ quick, contestants, rounds = quick ? 1 : 7, ...options }) {
      const all = ["tunerank", "tunerank, one retry", "nodeHttp", "undici", "fetch", "openai", "curl"];
      const names = contestants ?? all;
      const samples = await upload(rounds, [...names, empty], options, "peakBytes");
      for (const name of [...names, empty]) samples[name] = samples[name].map((bytes) => bytes / 1e6);
      // curl is no Node: there is no empty process to take off.
      return minusEmpty(
        samples,
        names.filter((name) => name !== "curl"),
      );
    },
  },

  manyItems: figures(
    "100,000 items of 1 KB reranked in batches of 1,000",
    [5, 1],
    async ({ baseUrl, ...options }) => {
      const run = (items, flags = []) => runChild("manyItems", { baseUrl, items }, { ...options, flags });
      const none = await run(0);
      const few = await run(10_000);
      const many = await run(100_000);
      // What a process costs before its first item is no item's.
      const perItem = ({ microseconds, ranked }) => (microseconds - none.microseconds) / ranked;
      const peak = async (items) => (await run(items, smallHeap)).peakBytes;
      return {
        "items ranked": many.ranked,
        "CPU per item ÷ that of 10,000 items": perItem(many) / perItem(few),
        "peak memory in MB, minus that of an empty process; heap limit 96 MB":
          ((await peak(100_000)) - (await peak(0))) / 1e6,
        "ms of CPU": many.microseconds / 1000,
      };
    },
  ),

  manyAtOnce: figures("5,000 rerank calls at once", [5, 1], async ({ baseUrl, calls = 5000, ...options }) => {
    const found = await runChild("manyAtOnce", { baseUrl, calls }, { ...options, flags: watched });
    return {
      "calls fulfilled": found.fulfilled,
      "sockets at the server": found.maxSockets,
      "bytes per waiting call": found.bytesPerCall,
      "warnings of Node": found.warnings,
    };
  }),

  bulkStart,

  bulkMemory: figures(
    "Bulk: 1,000,000 requests in a heap of 256 MB",
    [1, 1],
    async ({ baseUrl, quick, ...options }) => {
      const requests = quick ? 50_000 : 1_000_000;
      const flags = ["--expose-gc", "--max-old-space-size=256"];
      const { results, growth } = await runChild("bulkMemory", { baseUrl, requests }, { ...options, flags });
      return { results, "heap at the end ÷ after a tenth": growth };
    },
  ),

  bulkOutage: figures(
    "Bulk: an outage of 20 s in the middle of 100,000 requests",
    [1, 1],
    async ({ baseUrl, quick, ...options }) => {
      const input = { baseUrl, requests: 100_000, outageMs: quick ? 5000 : 20_000 };
      const { lost, refused, seconds } = await runChild("bulkOutage", input, options);
      return { "requests lost": lost, "requests beyond need": refused, "seconds to recover": seconds };
    },
  ),

  bundleSize: {
    title: "Browser bundle",
    unit: "bytes",
    // Everything that `tunerank` exports: what a page loads with its first script, and all of it in one file.
    async measure({ entry: forNode = shipped }) {
      // A build that has no file of its own for the web chooses by conditions.
      const forTheWeb = forNode.replace(/index\.js$/, "index.web.js");
      const entry = existsSync(forTheWeb) ? forTheWeb : forNode;
      const samples = {};
      for (const [what, splitting] of [
        ["loaded first", true],
        ["all in one file", false],
      ]) {
        const bytes = await bundleForTheWeb(entry, splitting);
        samples[`${what}, minified`] = [bytes.byteLength];
        samples[`${what}, minified and gzipped`] = [gzipSync(bytes, { level: 9 }).byteLength];
      }
      return samples;
    },
  },

  heapGrowth: figures(
    "Heap after 100,000 calls",
    [1, 1],
    async ({ baseUrl, calls = 100_000, ...options }) => {
      const every = calls / 10;
      const found = await runChild("heapGrowth", { baseUrl, calls, every }, { ...options, flags: watched });
      // The median slope of all pairs of readings: one that stands out does not bend it.
      const slopes = found.heap.flatMap((value, index) =>
        found.heap.slice(index + 1).map((later, distance) => (later - value) / (distance + 1)),
      );
      return {
        "bytes kept per call": median(slopes) / every,
        "listeners left": found.listeners,
        "timers left": found.timers,
        "warnings of Node": found.warnings,
      };
    },
  ),
};

function millisecondsOf(node, args, env) {
  const started = performance.now();
  const { status } = spawnSync(node, args, { stdio: ["ignore", "ignore", "inherit"], env });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}.`);
  return performance.now() - started;
}

function upload(rounds, contestants, options, figure) {
  return withServer({}, (baseUrl) =>
    withUploadFile((file) => {
      const runs = {
        curl: () => runCurl({ baseUrl, ...file }),
        [empty]: () => runChild("upload", {}, options),
        async "tunerank, one retry"() {
          // The whole file arrives twice: the first response is a 503.
          await control(baseUrl, "POST", "/fail-next-upload");
          const input = { baseUrl, ...file, client: "tunerank", options: { idempotent: true } };
          const found = await runChild("upload", input, options);
          // Without retries there is nothing to measure: the figure stays empty.
          return found.error ? { [figure]: Number.NaN } : found;
        },
      };
      return alternate(rounds, contestants, async (client) => {
        const plain = () => runChild("upload", { baseUrl, ...file, client }, options);
        const found = await (runs[client] ?? plain)();
        if (found.error) throw new Error(`${client}: ${found.error}`);
        return found[figure];
      });
    }),
  );
}

// Where bundles are split, what is imported when it is used comes in files of its own.
async function bundleForTheWeb(entry, splitting) {
  const { outputFiles, metafile } = await build({
    entryPoints: { index: entry },
    ...{ bundle: true, splitting, outdir: "bundle", minify: true, format: "esm", platform: "browser" },
    ...{ metafile: true, write: false, logLevel: "error" },
  });
  const first = new Set();
  const load = (file) => {
    if (first.has(file)) return;
    first.add(file);
    for (const { kind, path: imported } of metafile.outputs[file].imports)
      if (kind === "import-statement") load(imported);
  };
  load(path.join("bundle", "index.js"));
  const loaded = outputFiles.filter((file) => first.has(path.relative(process.cwd(), file.path)));
  return Buffer.concat(loaded.map(({ contents }) => contents));
}
