// A client that sends through a dispatcher of undici 7 and 8 to Node's own HTTP/2 server.
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { certificate, certificateKey } from "../../test/support/certificate.ts";
import { clientOf, failure, type Scope, versions } from "./support/undici.ts";

// What a server over HTTP/2 does with a resume, and what the client may say of it.
const { NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_CANCEL } = http2.constants;
// Node's server names the last stream itself where it is told 0: so each row's call is the second of its connection.
const firstStream = 1;

/** The headers of a good response. */
const head = { ":status": 200, "content-type": "application/json" };
/** A ranking of one document. */
const ranking = { data: [{ index: 0, relevance_score: 0.5 }] };

/** A request at the server. */
type Stream = http2.ServerHttp2Stream;
/** What the server does with one request of this path, which is its nth. */
type Behaviour = (stream: Stream, nth: number, session: http2.ServerHttp2Session) => void;

/** Responds once the body is whole, with its length. */
function responseFor(stream: Stream): void {
  let length = 0;
  stream.on("data", (chunk: Buffer) => {
    length += chunk.length;
  });
  stream.on("end", () => {
    stream.respond(head);
    stream.end(JSON.stringify({ ...ranking, id: `${length}` }));
  });
}

/** What comes of one resume, and how often the server saw it: for each undici, or for all. */
const rows: readonly {
  readonly what: string;
  readonly behave: Behaviour;
  readonly executed: Readonly<Record<string, string>> | string;
  readonly seen: Readonly<Record<string, number>> | number;
}[] = [
  {
    what: "a GOAWAY that takes the stream in, and its response",
    behave: (stream, _nth, session) => {
      session.goaway(NGHTTP2_NO_ERROR, stream.id);
      responseFor(stream);
    },
    executed: { "undici 7": "unknown", "undici 8": "responded" },
    seen: 1,
  },
  {
    what: "a GOAWAY that takes the stream in, and the end of the connection",
    behave: (stream, _nth, session) => {
      session.goaway(NGHTTP2_NO_ERROR, stream.id);
      setTimeout(() => session.destroy(), 50);
    },
    executed: "unknown",
    seen: 1,
  },
  {
    what: "a GOAWAY with an error that takes the stream in",
    behave: (stream, _nth, session) => session.goaway(NGHTTP2_INTERNAL_ERROR, stream.id),
    executed: "unknown",
    seen: 1,
  },
  {
    what: "a GOAWAY that leaves the stream out",
    behave: (stream, nth, session) =>
      nth === 1 ? session.goaway(NGHTTP2_NO_ERROR, firstStream) : responseFor(stream),
    executed: { "undici 7": "unknown", "undici 8": "responded" },
    seen: { "undici 7": 1, "undici 8": 2 },
  },
  {
    what: "a GOAWAY that leaves the stream out, and the end of the next connection",
    behave: (_stream, nth, session) =>
      nth === 1 ? session.goaway(NGHTTP2_NO_ERROR, firstStream) : session.destroy(),
    executed: "unknown",
    seen: { "undici 7": 1, "undici 8": 2 },
  },
  {
    what: "REFUSED_STREAM",
    behave: (stream, nth) => (nth === 1 ? stream.close(NGHTTP2_REFUSED_STREAM) : responseFor(stream)),
    executed: { "undici 7": "no", "undici 8": "responded" },
    seen: { "undici 7": 1, "undici 8": 2 },
  },
  {
    what: "REFUSED_STREAM, each time",
    behave: (stream) => stream.close(NGHTTP2_REFUSED_STREAM),
    executed: "no",
    seen: { "undici 7": 1, "undici 8": 2 },
  },
  {
    what: "RST_STREAM with an error",
    behave: (stream) => stream.close(NGHTTP2_INTERNAL_ERROR),
    executed: "unknown",
    seen: 1,
  },
  {
    what: "RST_STREAM with CANCEL",
    behave: (stream) => stream.close(NGHTTP2_CANCEL),
    executed: "unknown",
    seen: 1,
  },
  {
    what: "RST_STREAM without an error",
    behave: (stream) => stream.close(NGHTTP2_NO_ERROR),
    executed: "unknown",
    seen: 1,
  },
  {
    what: "RST_STREAM in the middle of a response",
    behave: (stream) => {
      stream.respond(head);
      stream.write("{", () => stream.close(NGHTTP2_INTERNAL_ERROR));
    },
    executed: "yes",
    seen: 1,
  },
];

const body = { query: "q", documents: ["d"] };
const file = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) % 251);
const nothing = () => {};

async function serve(t: Scope, behave: Behaviour = responseFor) {
  const seen: string[] = [];
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = http2.createSecureServer({ cert: certificate, key: certificateKey, allowHTTP1: true });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", nothing).on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    const path = `${headers[":path"]}`;
    seen.push(path);
    const nth = seen.filter((each) => each === path).length;
    behave(stream.on("error", nothing), nth, stream.session as http2.ServerHttp2Session);
  });
  // What came by HTTP/1.1; of a stream there is a request, too.
  server.on("request", (request, response) => {
    if (request.httpVersion !== "1.1") return;
    seen.push("1.1");
    response.end(JSON.stringify(ranking));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, seen, sessions };
}

for (const [name, undici] of versions) {
  const connect = { ca: certificate };
  const dispatcherOf = (t: Scope, options: object = { allowH2: true }) => {
    const dispatcher = new undici.Agent({ connect, ...options });
    t.after(() => dispatcher.destroy());
    return dispatcher;
  };
  // undici 8 has HTTP/2 without being told.
  const told = name === "undici 8" ? [{}, { allowH2: true }] : [{ allowH2: true }];

  for (const options of told)
    for (const { what, behave, executed, seen: expected } of rows)
      test(`${name} ${JSON.stringify(options)}, ${what}: said, and sent as often as may be`, async (t) => {
        const first: Behaviour = (stream, ...more) =>
          seen.length === 1 ? responseFor(stream) : behave(stream, ...more);
        const { url, seen } = await serve(t, first);
        const client = clientOf(url, dispatcherOf(t, options));
        await client.rerank(body);
        const resume = client.reinforcementFineTuningJobs.resume("job-1", { timeoutMs: 2000 });
        const said = await resume.then(
          () => "responded",
          async () => (await failure(resume)).executed,
        );
        assert.equal(said, typeof executed === "string" ? executed : executed[name]);
        assert.equal(seen.length - 1, typeof expected === "number" ? expected : expected[name]);
      });

  test(`${name} over HTTP/2 sends each of 500 calls once, and a whole file`, async (t) => {
    const { url, seen, sessions } = await serve(t);
    const client = clientOf(url, dispatcherOf(t));
    await client.rerank(body);
    assert.equal(sessions.size, 1);
    await Promise.all(Array.from({ length: 500 }, (_, i) => client.deployments.scale(`n-${i}`, 1)));
    assert.deepEqual([seen.length, new Set(seen).size], [501, 501]);
    const { id } = await client.datasets.upload("reviews", file, { name: "train.jsonl" });
    assert(Number(id) > file.length);
  });

  test(`${name} over HTTP/2: a body that the server reads no more of meets the deadline`, async (t) => {
    let stalled: Stream | undefined;
    const { url, seen, sessions } = await serve(t, (stream) => {
      if (seen.length === 2) stalled = stream.pause();
      else responseFor(stream);
    });
    const client = clientOf(url, dispatcherOf(t));
    // On a busy machine it may take as long as the deadline to connect.
    await client.rerank(body);
    const upload = client.datasets.upload("reviews", file, { name: "train.jsonl", timeoutMs: 1000 });
    const error = await failure(upload);
    assert.deepEqual([error.code, error.executed], ["DEADLINE_EXCEEDED", "unknown"]);
    // The connection goes on, and no more is sent of the file.
    await client.rerank(body);
    assert.equal(sessions.size, 1);
    let read = 0;
    const gone = new Promise((resolve) => stalled?.on("close", resolve).resume());
    stalled?.on("data", (chunk: Buffer) => {
      read += chunk.length;
    });
    if (stalled?.destroyed === false) await gone;
    assert(read < 1_000_000, `${read} bytes came`);
  });

  test(`${name} over HTTP/2: a response that stalls meets the deadline, and its stream is gone`, async (t) => {
    let gone: Promise<unknown> | undefined;
    const { url, seen } = await serve(t, (stream) => {
      if (seen.length === 1) return responseFor(stream);
      gone = new Promise((resolve) => stream.resume().on("close", resolve));
      stream.respond(head);
      stream.write("{");
    });
    const client = clientOf(url, dispatcherOf(t));
    await client.rerank(body);
    const error = await failure(client.deployments.scale("prod", 1, { timeoutMs: 1000 }));
    assert.deepEqual([error.code, error.executed], ["DEADLINE_EXCEEDED", "yes"]);
    await gone;
  });

  for (const [allowH2, version] of [
    [undefined, name === "undici 8" ? "2" : "1.1"],
    [true, "2"],
    [false, "1.1"],
  ] as const)
    test(`${name} with allowH2 ${allowH2} speaks HTTP/${version} over TLS`, async (t) => {
      const { url, seen } = await serve(t);
      const client = clientOf(url, dispatcherOf(t, allowH2 === undefined ? {} : { allowH2 }));
      await client.rerank(body);
      assert.deepEqual(seen, [version === "2" ? "/inference/v1/rerank" : "1.1"]);
    });
}
