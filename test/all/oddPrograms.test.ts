// Programs in which something of the language is odd: every call is told, and every request made, as in a plain one.
import { afterAll, beforeAll, expect, test } from "vitest";
import { faults } from "../support/faults/faults.js";
import type { Place } from "../support/faults/runFault.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { type ReceivedRequest, useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";

const server = useRecordingServer();
const proxy = useForwardProxy();
const places: Place[] = [];

beforeAll(async () => {
  for (const name of [
    "refused",
    "TLS with a certificate nobody signed",
    "reset before headers",
    "a header with a NUL",
    "cut with a length",
    "gzip that is none",
    "a web page",
  ])
    places.push(await (faults.find((each) => each.name === name) ?? expect.unreachable(name)).start());
});
afterAll(() => Promise.all(places.map((place) => place.close())));

// Errors are spoiled where the client gets them: what Node and undici do with them is over by then.
const calls = `
  import { EventEmitter } from "node:events";
  import { ClientRequest, IncomingMessage } from "node:http";
  import { inspect } from "node:util";
  import { createRequire } from "node:module";
  import { createClient } from "./src/index.ts";
  import { DispatcherExchange } from "./src/transport/undici.ts";
  const { Agent, errors } = createRequire(process.cwd() + "/")("undici");
  const fail = () => { throw new RangeError("No text for you."); };
  const { ODD: odd, PROXY: proxy } = process.env;
  // undici assigns to its errors what they inherit: without members of their own that can be written, it makes none.
  const freezeErrors = async () => {
    const lost = await fetch("http://127.0.0.1:1").catch(({ cause }) => cause);
    const owners = [errors.UndiciError.prototype];
    for (let each = lost; each !== Error.prototype; each = Object.getPrototypeOf(each)) owners.push(each);
    for (const owner of owners) for (const name of ["name", "message"])
      Object.defineProperty(owner, name, { value: "", writable: true, configurable: true });
    Object.freeze(Error.prototype);
  };
  const programs = {
    "a stack that is frames": () => { Error.prepareStackTrace = (_error, frames) => frames; },
    "frozen errors": freezeErrors,
    "a logger and an inspect that throw": () => {
      Object.defineProperty(Error.prototype, inspect.custom, { value: fail });
      console.error = fail;
    },
  };
  // What facts are read from, such as an error's code, stays.
  const hostile = { toString: fail, [Symbol.toPrimitive]: fail };
  const spoilers = {
    "a message that is no string": (error) => Object.defineProperties(error,
      { stack: { value: 42 }, message: { value: { toString: 1 } } }),
    "getters that throw": (error) => {
      // The stack first: Node makes it of the others.
      for (const name of ["stack", "message", "name", "errors", "errno", "address", "port", "rawPacket"])
        Object.defineProperty(error, name, { get: fail });
    },
    "a toString that throws": (error) => {
      Object.defineProperties(error, Object.getOwnPropertyDescriptors({ ...hostile, message: hostile }));
      Object.assign(error, { errors: 7, hostname: hostile });
    },
  };
  const spoil = spoilers[odd] ?? (() => {});
  const respoiled = (error) => { spoil(error); throw error; };
  const { emit } = EventEmitter.prototype;
  EventEmitter.prototype.emit = function (name, ...given) {
    const isOurs = this instanceof ClientRequest || this instanceof IncomingMessage;
    if (name === "error" && isOurs) spoil(given[0]);
    return emit.call(this, name, ...given);
  };
  const { onResponseError } = DispatcherExchange.prototype;
  DispatcherExchange.prototype.onResponseError = function (controller, error) {
    spoil(error);
    onResponseError.call(this, controller, error);
  };
  const { read } = ReadableStreamDefaultReader.prototype;
  ReadableStreamDefaultReader.prototype.read = async function () { return read.call(this).catch(respoiled); };
  const plainFetch = fetch;
  const ways = proxy ? { proxy: { proxy, allowInsecureHttp: true } } : {
    "node:http": {},
    fetch: { fetch: (url, init) => plainFetch(url, init).catch(respoiled) },
    dispatcher: { dispatcher: new Agent() },
  };
  Math.random = () => 0;
  await programs[odd]?.();
  const told = [];
  process.on("uncaughtException", (error) => told.push("uncaught " + String(error)));
  for (const url of process.env.URLS.split(" ")) for (const [way, options] of Object.entries(ways)) {
    const events = [];
    const onAttempt = ({ number, code, httpStatus, waitMs }) => {
      events.push([number, code, httpStatus, waitMs].join("/"));
      if (odd.startsWith("a logger")) fail();
    };
    const logged = odd.startsWith("a logger") ? { logger: fail, logLevel: "debug" } : {};
    const baseUrl = proxy ? url.replace("127.0.0.1", "service.test") : url;
    const client = createClient({ baseUrl, accountId: "acme", onAttempt, ...logged, ...options });
    const { code, executed, executedBecause, notRetried, codeSource, httpStatus, attempts, message } =
      await client.rerank({ query: "q", documents: ["d"] }).catch((error) => error);
    const made = attempts.map((attempt) => [attempt.code, attempt.httpStatus]);
    const hasText = typeof message === "string" && message.startsWith("[" + code + "] ");
    told.push({ url, way, code, executed, executedBecause, notRetried, codeSource, httpStatus, made, hasText, events });
  }
  process.stdout.write(JSON.stringify(told), () => process.exit(0));
`;

async function toldIn(odd: string, env: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
  const urls = places.map(({ options }) => options.baseUrl).join(" ");
  const { stdout, stderr } = await runScript(calls, { ODD: odd, URLS: urls, ...env });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

test("whatever is odd about errors, every failure is told as in a plain program", async () => {
  const plain = await toldIn("nothing");
  expect(plain).toHaveLength(3 * places.length);
  expect(new Set(plain.map(({ code }) => code))).toEqual(new Set(["UNAVAILABLE", "INTERNAL"]));
  expect(plain.every(({ hasText }) => hasText)).toBe(true);
  for (const odd of [
    "a stack that is frames",
    "a logger and an inspect that throw",
    "a message that is no string",
    "getters that throw",
    "a toString that throws",
  ])
    expect(await toldIn(odd), odd).toEqual(plain);
  // Where errors are frozen, undici cannot make one of its parser: such a response is retried as a lost one.
  const isTold = ({ url, way }: Record<string, unknown>) =>
    way === "node:http" || url !== places[3]?.options.baseUrl;
  expect((await toldIn("frozen errors")).filter(isTold)).toEqual(plain.filter(isTold));
});

test("a proxy whose password is not Latin-1 is one as any other", async () => {
  const url = new URL(proxy.url);
  const through = (password: string) => {
    Object.assign(url, { username: "me", password });
    return toldIn("nothing", { PROXY: url.href });
  };
  const plain = await through("pass-word1");
  expect(plain).toHaveLength(places.length);
  expect(await through("pass\u20acword1")).toEqual(plain);
});

// What options, requests, files and headers have, and what JSON and streams are asked for.
const names =
  "baseUrl apiKey accountId rerankModel connectTimeoutMs maxConnections agent userAgent fetch allowInsecureHttp " +
  "dangerouslyAllowBrowser timeoutMs attemptTimeoutMs maxRetries idempotent onAttempt headers signal proxy " +
  "name size contentType onProgress verifyBytes maxResponseBytes TUNERANK_ACCOUNT_ID TUNERANK_RERANK_MODEL " +
  "query model documents top_n task return_documents replicaCount account_id job_id path params method body " +
  "minimum maximum minItems maxItems required items properties pattern additionalProperties type " +
  "authorization host accept user-agent content-type content-length connection x-polluted toJSON length href blob";

// Node itself reads these from objects that it makes: every use of Node's own transport then fails.
const readByNode: Readonly<Record<string, string>> = {
  "node:http": "signal",
  fetch: "signal query body required",
};

const polluted = `
  import { createReadStream } from "node:fs";
  import { createClient } from "./src/index.ts";
  import { operationCalls } from "./test/support/clients.ts";
  const own = process.env.TRANSPORT === "fetch" ? { fetch } : {};
  const client = (tag) => createClient(
    { baseUrl: process.env.URL, accountId: "acme", maxRetries: 0, ...own, headers: { "x-tag": tag } });
  const upload = (client, file) => client.datasets.upload("reviews", file, { name: "f" });
  // Node itself reads members of what it makes streams of: this one is made before.
  const callsOf = () => {
    const files = ["package.json", createReadStream("package.json")];
    return [
      ...operationCalls.map(({ call }) => call),
      ...files.map((file) => (client) => upload(client, file)),
      (client) => client.rerank.items("q", ["a", "b"], { text: String }),
    ];
  };
  const callAll = async (tag, calls) => {
    for (const call of calls) await (async () => call(client(tag)))().catch(() => {});
  };
  await callAll("clean", callsOf());
  for (const name of process.env.NAMES.split(" "))
    for (const value of ["polluted", () => "polluted", 1]) {
      const calls = callsOf();
      Object.prototype[name] = value;
      await callAll(name + " " + typeof value, calls);
      delete Object.prototype[name];
    }
`;

/** All of a request but the tag and the boundary, which is another each time. */
function written({ method, url, headers, body }: ReceivedRequest): string {
  const { "x-tag": _, ...others } = headers;
  const boundary = /boundary=(\S+)/.exec(headers["content-type"] ?? "")?.[1] ?? "";
  return JSON.stringify([method, url, others, body.toString()]).replaceAll(boundary || "\0", "boundary");
}

test.each(Object.keys(readByNode))(
  "over %s nothing on Object.prototype changes a request",
  async (transport) => {
    const asked = names.split(" ").filter((name) => !readByNode[transport]?.split(" ").includes(name));
    const env = { URL: server.url, TRANSPORT: transport, NAMES: asked.join(" ") };
    expect(await runScript(polluted, env)).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    const sent: Record<string, string[]> = {};
    for (const request of server.requests) {
      const tag = `${request.headers["x-tag"]}`;
      sent[tag] = [...(sent[tag] ?? []), written(request)];
    }
    const { clean, ...others } = sent;
    expect(clean?.length).toBeGreaterThan(6);
    expect(Object.keys(others)).toHaveLength(3 * asked.length);
    for (const [tag, requests] of Object.entries(others)) expect(requests, tag).toEqual(clean);
  },
);
