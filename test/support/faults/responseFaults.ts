import type { ErrorRow } from "../../../src/conformance/data.js";
import { type DecisionRow, decisionRows, errorRows } from "../decisionRows.js";
import { goodText } from "../responses.js";
import { drip, endless, good, head, respond, send, sendAndClose, sendAndReset } from "./acts.js";
import type { Fault } from "./fault.js";
import { type Act, serve } from "./faultServer.js";
import { like, type Outcomes, outcomesOf, succeeds } from "./outcomes.js";

const notJson = like("not-json-text");
const page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
const html = { "content-type": "text/html" };
const redirects = [301, 302, 303, 307, 308] as const;

function fault(name: string, request: Act, outcomes: Outcomes): Fault {
  return { name, start: () => serve({ request }), outcomes };
}

function responded(name: string, bytes: Uint8Array, outcomes: Outcomes): Fault {
  return fault(name, send(bytes), outcomes);
}

/** Whole responses that are not what the contract promises. */
export const responseFaults: readonly Fault[] = [
  responded("204", Buffer.from(head(204)), like("not-json-204")),
  responded("205", respond(205, ""), like("not-json-204")),
  responded("206", respond(206, '{"object":'), like("not-json-204")),
  responded("304", Buffer.from(head(304)), like("status-304")),
  responded("a status of nobody", respond("799 Odd", "{}"), like("status-507")),
  ...redirects.map((status) =>
    fault(
      `${status} to another origin`,
      (socket, moment) => send(respond(status, "", { location: moment.elsewhere }))(socket, moment),
      like(`status-${status}`),
    ),
  ),
  responded("a web page", respond(200, page, html), like("html")),
  responded("a web page that claims to be JSON", respond(200, page), like("html")),
  responded("nothing", respond(200, ""), like("not-json-empty")),
  responded("null", respond(200, "null"), like("not-json-null")),
  responded("a list", respond(200, "[{}]"), like("not-json-list")),
  responded("a number", respond(200, "42"), notJson),
  responded("text", respond(200, "OK", { "content-type": "text/plain" }), notJson),
  responded("two JSON texts", respond(200, "{}{}"), notJson),
  responded("UTF-16", respond(200, Buffer.from("{}", "utf16le")), notJson),
  responded("bytes that are no UTF-8", respond(200, Buffer.from([0xff, 0xfe, 0x80])), notJson),
  responded(
    "a string with bytes that are no UTF-8",
    respond(200, Buffer.from('{"id":"\xff","data":[{"index":0,"relevance_score":1}]}', "latin1")),
    succeeds,
  ),
  responded("JSON behind a byte order mark", respond(200, `\uFEFF${goodText}`), succeeds),
  responded(
    "JSON that claims to be text",
    respond(200, goodText, { "content-type": "text/plain" }),
    succeeds,
  ),
  responded(
    "JSON of no type",
    Buffer.from(`${head(200, { "content-length": goodText.length })}${goodText}`),
    succeeds,
  ),
];

const short = { timeoutMs: 2_000, attemptTimeoutMs: 2_000 };
const statusLine = "HTTP/1.1 200 OK\r\n";

function headFault(name: string, request: Act, outcomes: Outcomes, more: Partial<Fault> = {}): Fault {
  return { name, start: () => serve({ request }), outcomes, ...more };
}

// No response can be made of it: as good as a close before headers.
function unreadable(name: string, act: Act, more: Partial<Fault> = {}): Fault {
  return headFault(name, act, like("close-before-headers"), more);
}

function stalled(name: string, act: Act, more: Partial<Fault> = {}): Fault {
  return headFault(name, act, like("deadline"), { client: short, ...more });
}

// What is no HTTP would most likely be none again: one retry, where that is safe.
function garbled(name: string, act: Act, more: Partial<Fault> = {}): Fault {
  const lost = Object.entries(like("close-before-headers")).map(([operation, outcome]) => {
    const { requests, attempts } = outcome;
    return [operation, { ...outcome, requests: Math.min(requests, 2), attempts: Math.min(attempts, 2) }];
  });
  return headFault(name, act, Object.fromEntries(lost), more);
}

/** Responses whose head never comes, or is none. */
export const headFaults: readonly Fault[] = [
  stalled("stalls in the status line", send("HTTP/1.1 2")),
  stalled("stalls in the headers", send(statusLine, "content-type: appl")),
  stalled("one byte of the headers a second", drip("H", "TTP/1.1 200 OK", 1_000)),
  stalled("headers byte by byte without end", drip(statusLine, "x-a: b\r\n".repeat(500), 20)),
  stalled("103, then nothing", send(head("103 Early Hints"))),
  unreadable("closed in the status line", sendAndClose("HTTP/1.1 2")),
  unreadable("closed in the headers", sendAndClose(statusLine, "content-type: appl")),
  unreadable("reset in the headers", sendAndReset(statusLine, "content-type: appl")),
  garbled("a status line that is garbage", send("!?#§ 200 OK\r\n\r\n")),
  garbled("a body without a head", sendAndClose('{"ok":true}')),
  garbled("a status that is no number", send("HTTP/1.1 abc OK\r\n\r\n")),
  garbled("HTTP/2", send(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))),
  garbled("a header of 128 KiB", send(statusLine, `x-long: ${"x".repeat(131_072)}\r\n\r\n`)),
  garbled("headers without end", endless(statusLine, "x-more: and more\r\n".repeat(100))),
  garbled("a header with a NUL", send(statusLine, "x-nul: a\0b\r\ncontent-length: 2\r\n\r\n{}")),
  garbled(
    "a header whose name has a space",
    send(statusLine, `x bad: 1\r\ncontent-length: ${goodText.length}\r\n\r\n${goodText}`),
    {
      // Before Node 24, its fetch is not as strict.
      ...(Number.parseInt(process.versions.node, 10) < 24 && { overFetch: { outcomes: succeeds } }),
    },
  ),
  garbled("two lengths", send(statusLine, "content-length: 2\r\ncontent-length: 3\r\n\r\n{} ")),
  garbled("a length below zero", send(statusLine, "content-length: -2\r\n\r\n{}")),
  garbled(
    "a length and chunks",
    send(respond(200, "2\r\n{}\r\n0\r\n\r\n", { "content-length": 2, "transfer-encoding": "chunked" })),
  ),
  headFault(
    "101: another protocol",
    send(head("101 Switching Protocols", { upgrade: "x", connection: "upgrade" })),
    like("status-101"),
    // Node's fetch hides the response.
    { overFetch: { outcomes: like("close-before-headers") } },
  ),
  headFault("100, then a good response", send(head("100 Continue"), good), succeeds, {
    // Node's fetch takes none that it has not asked for.
    overFetch: { outcomes: like("close-before-headers") },
  }),
  headFault("102, then a good response", send(head("102 Processing"), good), succeeds),
  headFault("103, then a good response", send(head("103 Early Hints", { link: "<x>" }), good), succeeds),
  headFault("HTTP/1.0 without a length", sendAndClose(`HTTP/1.0 200 OK\r\n\r\n${goodText}`), succeeds),
];

/** Every shape of an error body; the event of the decision table with the same code and status says what comes of it. */
export const errorBodyFaults: readonly Fault[] = errorRows
  .filter(({ name }) => !name.endsWith("whose body names nothing"))
  .map((row) => ({
    name: `${row.status}: ${row.name}`,
    start: () => serve({ request: send(responseOf(row)) }),
    outcomes: outcomesOf(eventOf(row)),
  }));

function responseOf({ status, headers, body = "", bodyBase64 }: ErrorRow): Buffer {
  const bytes = bodyBase64 === undefined ? body : Buffer.from(bodyBase64, "base64");
  return respond(status, bytes, headers);
}

function eventOf({ name, status, code, codeSource }: ErrorRow): DecisionRow {
  const event = decisionRows.find(({ server, client, codeSource: source }) => {
    if (client !== undefined || source !== codeSource || !("answer" in server)) return false;
    const { body, headers = {} } = server.answer;
    if (server.answer.status !== status || Object.keys(headers).some((header) => /^retry/.test(header)))
      return false;
    return codeSource === "status" || (body as { code?: unknown } | undefined)?.code === code;
  });
  if (event === undefined) throw new Error(`The decision table has no event for "${name}".`);
  return event;
}
