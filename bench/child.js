// What runs in a process of its own: `node child.js NAME INPUT`, which prints its figures as JSON.
import { bodies, small } from "./bodies.js";
import { open, openBulk } from "./clients.js";
import { peakBytes } from "./peakBytes.js";

const [name, json] = process.argv.slice(2);
const input = JSON.parse(json);
const { client, baseUrl, concurrency = 16 } = input;

const children = {
  /** Ends with the first response. */
  async firstResponse() {
    const { rerank } = await open(client, baseUrl);
    if (!(await rerank(small))) throw new Error("There is no response.");
  },

  /** CPU and time of one rerank call after a warm-up. */
  async callCost({ warmUpCalls, warmUpMs, measureMs }) {
    const call = await callOf(input);
    const warm = performance.now() + warmUpMs;
    await inLanes((done) => done < warmUpCalls || performance.now() < warm, call);
    const end = performance.now() + measureMs;
    return perCall(() => inLanes(() => performance.now() < end, call));
  },

  /** So many rerank calls, and nothing else: what is counted is outside of the process. */
  async calls({ calls }) {
    const call = await callOf(input);
    await inLanes(counted(calls), call);
  },

  /** Many small requests: CPU and time of each, after as many to warm up. */
  async bulk({ requests, before = [requests] }) {
    const rank = await ranker();
    for (const count of before) await rank(count);
    const figures = await perCall(() => rank(requests));
    if (figures.calls !== requests) throw new Error(`${client} ranked ${figures.calls} of ${requests}.`);
    return figures;
  },

  /** The heap over a run of many requests. */
  async bulkMemory({ requests }) {
    const run = await openBulk(baseUrl);
    const heap = [];
    let results = 0;
    for await (const { response } of run(requestsOf(requests))) {
      if (response) results++;
      if (results % (requests / 10) === 0) heap.push(heldBytes().heapUsed);
    }
    return { results, growth: heap.at(-1) / heap[0] };
  },

  /** A service that is away for some seconds in the middle of a run: what it gets beyond need, and when the run goes on. */
  async bulkOutage({ requests, outageMs }) {
    const run = await openBulk(baseUrl);
    let [results, lost, backAt, goneOnAt] = [0, 0, Number.POSITIVE_INFINITY];
    const outage = async () => {
      await control("POST", "/away");
      await wait(outageMs);
      await control("POST", "/back");
      backAt = performance.now();
    };
    for await (const { response } of run(requestsOf(requests))) {
      results++;
      if (!response) lost++;
      if (performance.now() > backAt) goneOnAt ??= performance.now();
      if (results === requests / 2) void outage();
    }
    const { refused } = await control("GET", "/stats");
    return { lost, refused, seconds: (goneOnAt - backAt) / 1000 };
  },

  /** The heap after every so many calls that share one signal, and what is left in the end. */
  async heapGrowth({ calls, every }) {
    const { getEventListeners } = await import("node:events");
    const { rerank } = await open("tunerank", baseUrl);
    const { signal } = new AbortController();
    const warnings = warningsSoFar();
    const call = (count) => inLanes(counted(count), () => rerank(small, { signal }));
    const activeTimers = () => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
    // Compiled code is dropped and made anew at first: those calls are not looked at.
    await call(3 * every);
    const timersBefore = activeTimers();
    const heap = [heldBytes().heapUsed];
    for (let done = 0; done < calls; done += every) {
      await call(every);
      heap.push(heldBytes().heapUsed);
    }
    const listeners = getEventListeners(signal, "abort").length;
    return { heap, listeners, timers: activeTimers() - timersBefore, warnings: warnings() };
  },

  /** One call each second: CPU of each second, what a process costs that has little to do. */
  async idle({ seconds }) {
    const { rerank } = await open(client, baseUrl);
    await rerank(small);
    await wait(1000);
    const before = process.cpuUsage();
    for (let second = 0; second < seconds; second++) {
      await rerank(small);
      await wait(1000);
    }
    const { user, system } = process.cpuUsage(before);
    return { cpu: (user + system) / seconds };
  },

  /** The most memory of a process with so many calls in flight; without a client, of an empty one. */
  async inFlight({ calls }) {
    if (client) await (await hold(client, calls)).release();
    return { peakBytes: peakBytes() };
  },

  /** Many calls at once while the server holds its responses: what each waiting call costs, and whether all settle. */
  async manyAtOnce({ calls }) {
    const warnings = warningsSoFar();
    const { bytes, release } = await hold("tunerank", calls);
    const outcomes = await release();
    const { maxSockets } = await control("GET", "/stats");
    const fulfilled = outcomes.filter(({ status }) => status === "fulfilled").length;
    return { bytesPerCall: bytes / calls, fulfilled, maxSockets, warnings: warnings() };
  },

  /** Items reranked in batches of 1,000: CPU time, how many came back, and the most memory the process ever held. */
  async manyItems({ items }) {
    const { rerankItems } = await open("tunerank", baseUrl);
    const filler = "All work and no play makes a dull document. ".repeat(24);
    const things = Array.from({ length: items }, (_, id) => ({ id }));
    // Made when it is asked for: 100 MB of texts would be seen if they were kept.
    const text = ({ id }) => `${id} ${filler}`.slice(0, 1024);
    const before = process.cpuUsage();
    const ranked = await rerankItems("dull work", things, { text, batchSize: 1000 });
    const { user, system } = process.cpuUsage(before);
    const right = ranked.filter(({ item, index }) => item === things[index]).length;
    return { microseconds: user + system, ranked: right, peakBytes: peakBytes() };
  },

  /** One upload: its wall time, and the most memory the process ever held; without a client, of an empty process. */
  async upload({ path, bytes, options }) {
    if (!client) return { peakBytes: peakBytes() };
    const { upload } = await open(client, baseUrl);
    const started = performance.now();
    try {
      const response = await upload(path, options);
      const milliseconds = performance.now() - started;
      if (response.bytes < bytes) return { error: `Only ${response.bytes} bytes arrived.` };
      return { milliseconds, peakBytes: peakBytes() };
    } catch (error) {
      return { error: error.message };
    }
  },
};

const figures = await children[name](input);
if (figures) console.log(JSON.stringify(figures));
process.exit(0);

async function perCall(run) {
  const before = process.cpuUsage();
  const started = performance.now();
  const calls = await run();
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { calls, cpu: (user + system) / calls, time: (ms * 1000) / calls };
}

// The least that can be: as many loops as calls may be under way.
async function inLanes(wanted, call) {
  let done = 0;
  const lane = async () => {
    while (wanted(done)) {
      await call();
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return done;
}

function counted(count) {
  let left = count;
  return () => left-- > 0;
}

/**
 * Makes one rerank of a body, by its name. With `failsWith`, a call that does not fail with that status is an error; with
 * `mayFailWith`, a call that fails with another one.
 */
async function callOf({ body: named = "small", failsWith, mayFailWith }) {
  const { rerank } = await open(client, baseUrl);
  const body = bodies[named]();
  if (failsWith === undefined && mayFailWith === undefined) return () => rerank(body);
  const expected = failsWith === undefined ? [200, mayFailWith] : [failsWith];
  return async () => {
    let status = 200;
    try {
      await rerank(body);
    } catch (error) {
      status = error.httpStatus ?? error.status;
    }
    if (!expected.includes(status)) throw new Error(`The call ended with ${status}, not with ${expected}.`);
  };
}

async function ranker() {
  if (client === "tunerank" || client === "tunerankDispatcher") {
    const run = await openBulk(baseUrl, client === "tunerankDispatcher" ? {} : undefined);
    return async (count) => {
      let ranked = 0;
      for await (const { response } of run(requestsOf(count), { concurrency })) if (response) ranked++;
      return ranked;
    };
  }
  const { rerank } = await open(client === "tunerankLoop" ? "tunerank" : client, baseUrl);
  if (client === "tunerankLoop" || client === "nodeHttp")
    return (count) => inLanes(counted(count), () => rerank(small));
  const { default: pLimit } = await import("p-limit");
  const limit = pLimit(concurrency);
  return async (count) => {
    const responses = await Promise.all(Array.from({ length: count }, () => limit(() => rerank(small))));
    return responses.filter(Boolean).length;
  };
}

function* requestsOf(count) {
  for (let id = 0; id < count; id++) yield { id, ...small };
}

/** Makes so many calls, which the server holds; `bytes` is what they take meanwhile. */
async function hold(contestant, calls) {
  const { rerank } = await open(contestant, baseUrl);
  await rerank(small);
  await control("POST", "/hold");
  const before = heldBytes();
  const settled = Promise.allSettled(Array.from({ length: calls }, () => rerank(small)));
  // A client with a limit of sockets keeps the others waiting.
  for (let held = 0, last = -1; held === 0 || held !== last; await wait(200)) {
    last = held;
    held = (await control("GET", "/stats")).held;
  }
  const after = heldBytes();
  const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
  return {
    bytes,
    async release() {
      await control("POST", "/release");
      return settled;
    },
  };
}

async function control(method, path) {
  const tools = await import("./tools.js");
  return tools.control(baseUrl, method, path);
}

function heldBytes() {
  globalThis.gc?.();
  return process.memoryUsage();
}

function warningsSoFar() {
  let warnings = 0;
  process.on("warning", () => warnings++);
  return () => warnings;
}

function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
