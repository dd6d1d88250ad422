import { beforeAll, describe, expect, test } from "vitest";
import { type ReceivedRequest, useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";

const server = useRecordingServer();

const clientOptions =
  "baseUrl apiKey accountId rerankModel connectTimeoutMs maxConnections agent userAgent fetch allowInsecureHttp " +
  "dangerouslyAllowBrowser timeoutMs attemptTimeoutMs maxRetries repeatable onAttempt headers signal";
const callOptions = "name size contentType onProgress verifyBytes";
const fields = "query model documents top_n task return_documents replicaCount account_id job_id";
const errorFields =
  "code executed codeSource inferred httpStatus operation requestId retryAfterMs hint cause attempts message reason phase";
const headerNames =
  "authorization host accept user-agent content-type content-length x-polluted x-request-id";
const ofOpenapiFetch =
  "Request querySerializer bodySerializer pathSerializer requestInitExt middleware params parseAs path header cookie";
const ofFetch =
  "method redirect credentials mode cache referrer referrerPolicy integrity keepalive duplex dispatcher window priority";
const ofNode =
  "hostname port protocol socketPath auth setHost localAddress localPort family lookup createConnection defaultPort " +
  "_defaultAgent insecureHTTPParser maxHeaderSize uniqueHeaders joinDuplicateHeaders timeout";
const ofTheLanguage = "toJSON then toString valueOf length href blob stream status query body aborted";

// The names of numbers are tried with one, too.
const ofNumbers = `${clientOptions} ${callOptions} length`;

// Node itself reads these from objects that it makes: a call then fails, and so does every other use of Node.
const readByNode: Readonly<Record<string, readonly string[]>> = {
  "node:http": ["signal", "timeout"],
  fetch: ["signal", "query", "body", "aborted", "mode", "referrer", "dispatcher", "window", "status"],
};

// Each is called with its name and value on Object.prototype; what the service saw and what came of it are compared.
const script = `
  import { createClient } from "./src/index.ts";
  import { operationCalls } from "./test/support/clients.ts";
  const values = ["polluted", { polluted: "polluted" }, () => "polluted", 1];
  const [scale] = operationCalls.filter(({ operation }) => operation === "scaleDeployment");
  const numbers = process.env.NUMBERS.split(" ");
  const told = {};
  const fetched = process.env.TRANSPORT === "fetch" ? { fetch } : {};
  async function callAll(tag) {
    const outcomes = (told[tag] = []);
    const client = createClient({ baseUrl: process.env.URL, accountId: "acme", maxRetries: 0, ...fetched });
    const make = (call, answer) => {
      const place = outcomes.push(undefined) - 1;
      call(client, { headers: { "x-tag": tag, "x-answer": answer } }).then(
        (value) => { outcomes[place] = { value }; },
        (error) => { outcomes[place] = { error }; },
      );
      return settled(() => outcomes[place] !== undefined);
    };
    for (const { call } of operationCalls) await make(call, "200");
    await make(scale.call, "404");
  }
  // Half a second is for what can never settle.
  function settled(done) {
    const end = performance.now() + 500;
    return new Promise((resolve) => {
      const look = () => (done() || performance.now() > end ? resolve() : setImmediate(look));
      look();
    });
  }
  await callAll("clean");
  for (const name of process.env.NAMES.split(" ")) {
    for (const value of numbers.includes(name) ? values : values.slice(0, 3)) {
      const tag = name + ":" + typeof value;
      Object.prototype[name] = value;
      try { await callAll(tag); } finally { delete Object.prototype[name]; }
    }
  }
  const shown = (key, value) => (key === "durationMs" ? undefined : value);
  console.log(JSON.stringify(told, shown));
  process.exit();
`;

interface Seen {
  readonly requests: Readonly<Record<string, readonly string[]>>;
  readonly outcomes: Readonly<Record<string, unknown>>;
}

async function callWith(transport: string, names: readonly string[]): Promise<Seen> {
  server.reply(({ headers }) => ({ status: Number(headers["x-answer"]), json: { code: "NOT_FOUND" } }));
  const { stdout, stderr } = await runScript(script, {
    URL: server.url,
    TRANSPORT: transport,
    NAMES: names.join(" "),
    NUMBERS: ofNumbers,
  });
  expect(stderr).toBe("");
  const requests: Record<string, string[]> = {};
  for (const request of server.requests) {
    const tag = String(request.headers["x-tag"]);
    requests[tag] = [...(requests[tag] ?? []), written(request)];
  }
  return { requests, outcomes: JSON.parse(stdout) };
}

/** All of a request but the tag and the boundary, which is another each time. */
function written({ method, url, headers, body }: ReceivedRequest): string {
  const { "x-tag": _, ...others } = headers;
  const boundary = /boundary=(\S+)/.exec(headers["content-type"] ?? "")?.[1] ?? "";
  return JSON.stringify([method, url, others, body.toString()]).replaceAll(boundary || "\0", "boundary");
}

const all = [clientOptions, callOptions, fields, errorFields, headerNames, ofOpenapiFetch, ofFetch, ofNode]
  .concat(ofTheLanguage)
  .flatMap((names) => names.split(" "));

describe.each(["node:http", "fetch"])("over %s, on Object.prototype", (transport) => {
  const names = [...new Set(all)].filter((name) => !readByNode[transport]?.includes(name));
  let seen: Seen;
  beforeAll(async () => {
    seen = await callWith(transport, names);
  });

  test("nothing gives five requests, to compare with", () => {
    expect(seen.requests.clean).toHaveLength(5);
    expect(seen.requests.clean?.join()).not.toContain("polluted");
    expect(seen.outcomes.clean).toMatchObject([{}, {}, {}, {}, { error: { code: "NOT_FOUND" } }]);
  });

  describe.each(names)("%s", (name) => {
    const number = ofNumbers.split(" ").includes(name) ? ["number"] : [];
    test.each(["string", "object", "function", ...number])("as a %s changes nothing", (type) => {
      const tag = `${name}:${type}`;
      if (tag === "then:function") {
        // Every object is then a promise that never settles: some calls do not come to be sent.
        expect(seen.requests.clean).toEqual(expect.arrayContaining([...(seen.requests[tag] ?? [])]));
        return;
      }
      expect(seen.requests[tag]).toEqual(seen.requests.clean);
      expect(seen.outcomes[tag]).toEqual(seen.outcomes.clean);
    });
  });
});
