import { goodText } from "../answers.js";
import { answer, head, send } from "./acts.js";
import type { Fault } from "./fault.js";
import { type Act, serve } from "./faultServer.js";
import { like, type Outcomes, succeeds } from "./outcomes.js";

const notJson = like("not-json-text");
const page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
const html = { "content-type": "text/html" };
const redirects = [301, 302, 303, 307, 308] as const;

function fault(name: string, request: Act, outcomes: Outcomes): Fault {
  return { name, start: () => serve({ request }), outcomes };
}

function answered(name: string, bytes: Uint8Array, outcomes: Outcomes): Fault {
  return fault(name, send(bytes), outcomes);
}

/** Whole answers that are not what the contract promises. */
export const answerFaults: readonly Fault[] = [
  answered("204", Buffer.from(head(204)), like("not-json-204")),
  answered("205", answer(205, ""), like("not-json-204")),
  answered("206", answer(206, '{"object":'), like("not-json-204")),
  answered("304", Buffer.from(head(304)), like("status-304")),
  answered("a status of nobody", answer("799 Odd", "{}"), like("status-507")),
  ...redirects.map((status) =>
    fault(
      `${status} to another origin`,
      (socket, moment) => send(answer(status, "", { location: moment.elsewhere }))(socket, moment),
      like(`status-${status}`),
    ),
  ),
  answered("a web page", answer(200, page, html), like("html")),
  answered("a web page that claims to be JSON", answer(200, page), like("html")),
  answered("nothing", answer(200, ""), like("not-json-empty")),
  answered("null", answer(200, "null"), like("not-json-null")),
  answered("a list", answer(200, "[{}]"), like("not-json-list")),
  answered("a number", answer(200, "42"), notJson),
  answered("text", answer(200, "OK", { "content-type": "text/plain" }), notJson),
  answered("two JSON texts", answer(200, "{}{}"), notJson),
  answered("UTF-16", answer(200, Buffer.from("{}", "utf16le")), notJson),
  answered("bytes that are no UTF-8", answer(200, Buffer.from([0xff, 0xfe, 0x80])), notJson),
  answered(
    "a string with bytes that are no UTF-8",
    answer(200, Buffer.from('{"id":"\xff","data":[]}', "latin1")),
    succeeds,
  ),
  answered("JSON behind a byte order mark", answer(200, `\uFEFF${goodText}`), succeeds),
  answered("JSON that claims to be text", answer(200, goodText, { "content-type": "text/plain" }), succeeds),
  answered(
    "JSON of no type",
    Buffer.from(`${head(200, { "content-length": goodText.length })}${goodText}`),
    succeeds,
  ),
];
