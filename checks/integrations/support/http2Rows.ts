// What a server over HTTP/2 does with a resume, and what the client may say of it.
import http2 from "node:http2";

const { NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_CANCEL } = http2.constants;
// Node's server names the last stream itself where it is told 0: so each row's call is the second of its connection.
const firstStream = 1;

/** The headers of a good answer. */
export const head = { ":status": 200, "content-type": "application/json" };
/** A ranking of one document. */
export const ranking = { data: [{ index: 0, relevance_score: 0.5 }] };

/** A request at the server. */
export type Stream = http2.ServerHttp2Stream;
/** What the server does with one request of this path, which is its nth. */
export type Behaviour = (stream: Stream, nth: number, session: http2.ServerHttp2Session) => void;

/** Answers once the body is whole, with its length. */
export function answer(stream: Stream): void {
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
export const rows: readonly {
  readonly what: string;
  readonly behave: Behaviour;
  readonly executed: Readonly<Record<string, string>> | string;
  readonly seen: Readonly<Record<string, number>> | number;
}[] = [
  {
    what: "a GOAWAY that takes the stream in, and its answer",
    behave: (stream, _nth, session) => {
      session.goaway(NGHTTP2_NO_ERROR, stream.id);
      answer(stream);
    },
    executed: { "undici 6": "unknown", "undici 7": "unknown", "undici 8": "answered" },
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
      nth === 1 ? session.goaway(NGHTTP2_NO_ERROR, firstStream) : answer(stream),
    executed: { "undici 6": "unknown", "undici 7": "unknown", "undici 8": "answered" },
    seen: { "undici 6": 1, "undici 7": 1, "undici 8": 2 },
  },
  {
    what: "a GOAWAY that leaves the stream out, and the end of the next connection",
    behave: (_stream, nth, session) =>
      nth === 1 ? session.goaway(NGHTTP2_NO_ERROR, firstStream) : session.destroy(),
    executed: "unknown",
    seen: { "undici 6": 1, "undici 7": 1, "undici 8": 2 },
  },
  {
    what: "REFUSED_STREAM",
    behave: (stream, nth) => (nth === 1 ? stream.close(NGHTTP2_REFUSED_STREAM) : answer(stream)),
    executed: { "undici 6": "no", "undici 7": "no", "undici 8": "answered" },
    seen: { "undici 6": 1, "undici 7": 1, "undici 8": 2 },
  },
  {
    what: "REFUSED_STREAM, each time",
    behave: (stream) => stream.close(NGHTTP2_REFUSED_STREAM),
    executed: "no",
    seen: { "undici 6": 1, "undici 7": 1, "undici 8": 2 },
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
    what: "RST_STREAM in the middle of an answer",
    behave: (stream) => {
      stream.respond(head);
      stream.write("{", () => stream.close(NGHTTP2_INTERNAL_ERROR));
    },
    executed: "yes",
    seen: 1,
  },
];
