import type { ErrorRow } from "../../../src/conformance/data.js";
import { type DecisionRow, decisionRows, errorRows } from "../decisionRows.js";
import { answer, send } from "./acts.js";
import type { Fault } from "./fault.js";
import { serve } from "./faultServer.js";
import { outcomesOf } from "./outcomes.js";

/** Every shape of an error body; the event of the decision table with the same code and status says what comes of it. */
export const errorBodyFaults: readonly Fault[] = errorRows
  .filter(({ name }) => !name.endsWith("whose body names nothing"))
  .map((row) => ({
    name: `${row.status}: ${row.name}`,
    start: () => serve({ request: send(answerOf(row)) }),
    outcomes: outcomesOf(eventOf(row)),
  }));

function answerOf({ status, headers, body = "", bodyBase64 }: ErrorRow): Buffer {
  const bytes = bodyBase64 === undefined ? body : Buffer.from(bodyBase64, "base64");
  return answer(status, bytes, headers);
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
