import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import { createClient } from "../../src/index.js";
import { createTestService } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const forbidden = [
  ...["authorization", "Authorization", "host", "content-type", "Content-Length"],
  ...["transfer-encoding", "connection"],
];

class NumberOfIts {
  get size() {
    return 1;
  }
}

const illFormed: readonly (readonly [what: string, headers: unknown])[] = [
  ["a name with a space", { "x y": "1" }],
  ["an empty name", { "": "1" }],
  ["a value with a line break", { "x-a": "1\r\nx-b: 2" }],
  ["a value with a NUL", { "x-a": "1\0" }],
  ["a value outside ASCII", { "x-a": "é" }],
  ["a value that is a number", { "x-a": 1 }],
  ["a list of texts", ["x-a: 1"]],
  ["a list of a name alone", [["x-a"]]],
  ["a list of texts of two characters", ["ab"]],
  ["a Map of a name that HTTP does not allow", new Map([["x a", "1"]])],
  ["a Map of a number", new Map([["x-a", 1]])],
  ["a Map of what the client sets", new Map([["Authorization", "1"]])],
  ["repeated texts that are too long together", Array(2).fill(["x-a", "a".repeat(5000)])],
  ["an accessor that gives a number", new NumberOfIts()],
  ["a string", "x-a: 1"],
  ["null", null],
  ["a function", () => ({ "x-a": "1" })],
  ["a Set", new Set(["x-a"])],
  ["an iterator", new Map([["x-a", "1"]]).entries()],
  ["no bytes", new Uint8Array()],
];

// What older polyfills of Headers and those of other realms have in common.
class OtherHeaders {
  readonly #texts: Record<string, string>;
  constructor(texts: Record<string, string>) {
    this.#texts = texts;
  }
  get(name: string): string | undefined {
    return this.#texts[name];
  }
  forEach(callback: (text: string, name: string) => void): void {
    for (const [name, text] of Object.entries(this.#texts)) callback(text, name);
  }
}

class Traced {
  "x-own" = "o";
  readonly #id = "t";
  get "X-Trace"(): string {
    return this.#id;
  }
}

class TracedTwice extends Traced {
  get "x-second"(): string {
    return "s";
  }
  get "x-none"(): undefined {
    return undefined;
  }
  set "x-set"(_: string) {}
  method(): void {}
}

const foreign = (code: string): unknown => runInNewContext(code);

// Each kind, and what is sent of it.
const kinds: readonly (readonly [kind: string, headers: unknown, sent: Record<string, string>])[] = [
  ["Headers", new Headers({ "X-A": "1", "x-b": "2" }), { "x-a": "1", "x-b": "2" }],
  ["empty Headers", new Headers(), {}],
  ["Headers of another package", new OtherHeaders({ "X-A": "1" }), { "x-a": "1" }],
  ["a Map", new Map(Object.entries({ "X-A": "1", "x-b": undefined })), { "x-a": "1" }],
  ["a Map of another realm", foreign('new Map([["X-A", "1"]])'), { "x-a": "1" }],
  ["pairs", Object.entries({ "X-A": "1", "x-b": "2" }), { "x-a": "1", "x-b": "2" }],
  ["pairs with a name twice", [1, 2, undefined].map((text) => ["X-a", text && `${text}`]), { "x-a": "1, 2" }],
  ["no pairs", [], {}],
  ["a record", { "X-A": "1", "X-Host": "2" }, { "x-a": "1", "x-host": "2" }],
  ["a record with a name in two cases", { "X-A": "1", "x-a": "2" }, { "x-a": "2" }],
  ["a record of another realm", foreign('({ "X-A": "1" })'), { "x-a": "1" }],
  ["a record without a prototype", Object.assign(Object.create(null), { "x-a": "1" }), { "x-a": "1" }],
  ["an instance of a class", new Traced(), { "x-own": "o", "x-trace": "t" }],
  ["an instance of a subclass", new TracedTwice(), { "x-own": "o", "x-trace": "t", "x-second": "s" }],
  ["a record that inherits", Object.create({ "x-inherited": "1" }), {}],
  ["a frozen record", Object.freeze({ "x-a": "1" }), { "x-a": "1" }],
];

const own = (headers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-")));

describe.each(transports)("over $name", ({ options }) => {
  test.each(operationCalls)("$operation sends headers of the client and of the call", async ({ call }) => {
    const client = connect(server.url, { ...options, headers: { "X-Team": "search", "x-stage": "test" } });
    await call(client, { headers: { "x-stage": "call", "X-Trace": "t 1" } });
    const sent = { "x-team": "search", "x-stage": "call", "x-trace": "t 1" };
    expect(server.only.headers).toMatchObject({ ...sent, authorization: `Bearer ${canaryKey}` });
  });

  test.each(kinds)("%s is sent, of the client and of a call", async (_kind, headers, sent) => {
    const given = { headers: headers as Record<string, string> };
    await connect(server.url, { ...options, ...given }).deployments.scale("prod", 1);
    await connect(server.url, options).deployments.scale("prod", 1, given);
    const client = connect(server.url, { ...options, headers: { "x-a": "client" } });
    await client.deployments.scale("prod", 1, given);
    const [ofClient, ofCall, ofBoth] = server.requests.map((request) => own(request.headers));
    expect([ofClient, ofCall, ofBoth]).toEqual([sent, sent, { "x-a": "client", ...sent }]);
  });
});

test.each([...forbidden.map((name) => [name, { [name]: "secret-part" }] as const), ...illFormed])(
  "%s: refused of a client and of a call, and nothing is sent",
  async (what, given) => {
    const headers = given as Record<string, string>;
    const ofClient = thrownBy(() => connect(server.url, { headers }));
    const ofCall = await failureOf(() => connect(server.url).deployments.scale("prod", 1, { headers }));
    for (const error of [ofClient, ofCall]) {
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
      if (forbidden.includes(what)) expect(error.message).toContain(what.toLowerCase());
      expect(error.message).not.toContain("secret-part");
    }
    expect(server.requests).toEqual([]);
  },
);

test("the headers of a run and of a scripted failure may be Headers, too", async () => {
  const client = connect(server.url);
  const run = rerankAll(client, [{ id: 1, query: "q", documents: ["d"] }], {
    headers: new Map([["X-A", "1"]]),
  });
  for await (const _ of run);
  expect(server.only.headers["x-a"]).toBe("1");
  const service = createTestService();
  const headers = new Headers({ "x-request-id": "r-1" });
  service.fail("rerank", { status: 503, headers });
  const call = () =>
    connect("https://service.test", { fetch: service.fetch }).rerank({ query: "q", documents: ["d"] });
  expect((await failureOf(call)).requestId).toBe("r-1");
});

describe("names on Object.prototype", () => {
  const names = ["get", "forEach", "entries", Symbol.iterator, Symbol.toStringTag];
  afterEach(() => {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name);
  });

  test("make no collection of a record, and no header of an instance", async () => {
    const client = createClient({ baseUrl: server.url, apiKey: canaryKey, accountId: "acme" });
    await client.deployments.scale("prod", 1);
    const value = (name: string | symbol) => (typeof name === "symbol" ? "Set" : () => [["x-polluted", "1"]]);
    const polluted = Object.fromEntries(names.map((name) => [name, value(name)]));
    const traced = new Traced() as object as Record<string, string>;
    // Only while the arguments are read: a server of Node's would not run with them.
    Object.assign(Object.prototype, polluted);
    const calls = [{ "x-a": "1" }, traced].map((headers) => client.deployments.scale("prod", 1, { headers }));
    for (const name of names) Reflect.deleteProperty(Object.prototype, name);
    await Promise.all(calls);
    const sent = server.requests.map(({ headers }) => own(headers));
    expect(sent).toEqual([{}, { "x-a": "1" }, { "x-own": "o", "x-trace": "t" }]);
  });
});

test("over node:http a header named __proto__ is sent like any other", async () => {
  const headers = JSON.parse('{"__proto__":"1"}');
  await connect(server.url, { headers }).deployments.scale("prod", 1);
  expect(server.only.rawHeaders).toContain("__proto__");
});
