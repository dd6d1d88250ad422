import { goodText } from "../answers.js";
import { answer, drip, endless, good, head, send, sendAndClose, sendAndReset } from "./acts.js";
import type { Fault } from "./fault.js";
import { type Act, serve } from "./faultServer.js";
import { like, type Outcomes, succeeds } from "./outcomes.js";

const short = { timeoutMs: 2_000, attemptTimeoutMs: 2_000 };
const statusLine = "HTTP/1.1 200 OK\r\n";

function fault(name: string, request: Act, outcomes: Outcomes, more: Partial<Fault> = {}): Fault {
  return { name, start: () => serve({ request }), outcomes, ...more };
}

// No answer can be made of it: as good as a close before headers.
function unreadable(name: string, act: Act, more: Partial<Fault> = {}): Fault {
  return fault(name, act, like("close-before-headers"), more);
}

function stalled(name: string, act: Act, more: Partial<Fault> = {}): Fault {
  return fault(name, act, like("deadline"), { client: short, ...more });
}

/** Answers whose head never comes, or is none. */
export const headFaults: readonly Fault[] = [
  stalled("stalls in the status line", send("HTTP/1.1 2")),
  stalled("stalls in the headers", send(statusLine, "content-type: appl")),
  stalled("one byte of the headers a second", drip("H", "TTP/1.1 200 OK", 1_000)),
  stalled("headers byte by byte without end", drip(statusLine, "x-a: b\r\n".repeat(500), 20)),
  stalled("103, then nothing", send(head("103 Early Hints"))),
  unreadable("closed in the status line", sendAndClose("HTTP/1.1 2")),
  unreadable("closed in the headers", sendAndClose(statusLine, "content-type: appl")),
  unreadable("reset in the headers", sendAndReset(statusLine, "content-type: appl")),
  unreadable("a status line that is garbage", send("!?#§ 200 OK\r\n\r\n")),
  unreadable("a body without a head", sendAndClose('{"ok":true}')),
  unreadable("a status that is no number", send("HTTP/1.1 abc OK\r\n\r\n")),
  unreadable("HTTP/2", send(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))),
  unreadable("a header of 128 KiB", send(statusLine, `x-long: ${"x".repeat(131_072)}\r\n\r\n`)),
  unreadable("headers without end", endless(statusLine, "x-more: and more\r\n".repeat(100))),
  unreadable("a header with a NUL", send(statusLine, "x-nul: a\0b\r\ncontent-length: 2\r\n\r\n{}")),
  unreadable(
    "a header whose name has a space",
    send(statusLine, `x bad: 1\r\ncontent-length: ${goodText.length}\r\n\r\n${goodText}`),
    {
      // Before Node 24, its fetch is not as strict.
      ...(Number.parseInt(process.versions.node, 10) < 24 && { overFetch: { outcomes: succeeds } }),
    },
  ),
  unreadable("two lengths", send(statusLine, "content-length: 2\r\ncontent-length: 3\r\n\r\n{} ")),
  unreadable("a length below zero", send(statusLine, "content-length: -2\r\n\r\n{}")),
  unreadable(
    "a length and chunks",
    send(answer(200, "2\r\n{}\r\n0\r\n\r\n", { "content-length": 2, "transfer-encoding": "chunked" })),
  ),
  fault(
    "101: another protocol",
    send(head("101 Switching Protocols", { upgrade: "x", connection: "upgrade" })),
    like("status-101"),
    // Node's fetch hides the answer.
    { overFetch: { outcomes: like("close-before-headers") } },
  ),
  fault("100, then a good answer", send(head("100 Continue"), good), succeeds, {
    // Node's fetch takes none that it has not asked for.
    overFetch: { outcomes: like("close-before-headers") },
  }),
  fault("102, then a good answer", send(head("102 Processing"), good), succeeds),
  fault("103, then a good answer", send(head("103 Early Hints", { link: "<x>" }), good), succeeds),
  fault("HTTP/1.0 without a length", sendAndClose(`HTTP/1.0 200 OK\r\n\r\n${goodText}`), succeeds),
];
