import fc, { type Arbitrary } from "fast-check";
import { httpStatuses } from "../../../../src/generated/contract.js";
import type { Behaviour, Ending } from "./faultyService.js";

// 408 and 499: somebody stopped waiting, whatever the service did.
const mayHaveRun: ReadonlySet<number> = new Set([408, 499]);

/** Whether the table calls this status refused: the service then never does the work. */
export function isRefusal(status: number): boolean {
  return status === 501 || (status >= 400 && status < 500 && !mayHaveRun.has(status));
}

/** Whether a request brought a response in which the service named UNAVAILABLE. */
export function namesUnavailable({ outcome }: Behaviour): boolean {
  return "text" in outcome && outcome.text.includes('"UNAVAILABLE"');
}

const ending: Arbitrary<Ending> = fc.oneof(
  { weight: 20, arbitrary: fc.constant("whole") },
  { weight: 3, arbitrary: fc.constantFrom("cut", "reset") },
  { weight: 1, arbitrary: fc.constant("stalled") },
);
const names = Object.keys(httpStatuses).filter((code) => code !== "OK");
const refusals = [400, 401, 402, 403, 404, 405, 409, 412, 413, 416, 421, 422, 425, 429, 431, 451, 501];
const others = [301, 302, 307, 408, 499, 500, 502, 503, 504, 520, 529];

const text = fc.oneof(
  fc.constantFrom("", "busy", "<html>", "null"),
  fc.constantFrom(...names).map((code) => JSON.stringify({ code, message: "As asked." })),
  fc.constantFrom(...names).map((status) => JSON.stringify({ error: { message: "As asked.", status } })),
);
// So short that a repeat comes at once.
const headers = fc.constantFrom({}, {}, { "retry-after-ms": "1" }, { "retry-after": "0" });

const responded = fc
  .record({
    status: fc.oneof(
      fc.constantFrom(...refusals),
      fc.constantFrom(...others),
      fc.constantFrom(421, 425, 429, 503),
    ),
    text,
    headers,
    ending,
  })
  .map((outcome) => ({
    ...outcome,
    headers: { ...outcome.headers, location: "http://127.0.0.1:1/elsewhere" },
  }));
const unavailable = fc.record({
  status: fc.constant(503),
  text: fc.constant(JSON.stringify({ code: "UNAVAILABLE" })),
  headers,
  ending: fc.constant<Ending>("whole"),
});
const succeeded = fc.record({
  status: fc.constantFrom(200, 200, 201, 204),
  text: fc.constantFrom("{}", "{}", '{"id":', "<html></html>", "OK"),
  headers: fc.constant({}),
  ending,
});
const network = fc.record({
  network: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom("reset" as const, "close" as const) },
    { weight: 1, arbitrary: fc.constant("silence" as const) },
  ),
});

/** What a service may do with a request; before a status that says refused it never does the work. */
export const behaviour: Arbitrary<Behaviour> = fc
  .record({
    early: fc.boolean(),
    works: fc.boolean(),
    interim: fc.oneof(
      { weight: 9, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    outcome: fc.oneof(
      { weight: 5, arbitrary: responded },
      { weight: 3, arbitrary: unavailable },
      { weight: 2, arbitrary: succeeded },
      { weight: 2, arbitrary: network },
    ),
  })
  .map((each) => ({ ...each, works: worksBefore(each) }));

function worksBefore({ works, outcome }: Behaviour): boolean {
  if (!("status" in outcome)) return works;
  return !isRefusal(outcome.status) && (works || outcome.status < 300);
}
