import { describe, test } from "vitest";
import { transports } from "../support/clients.js";
import { type ErrorShape, expectShape } from "../support/errorShape.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

// What names none of the service's failures leaves the decision to the HTTP status.
const shapes: readonly ErrorShape[] = [
  { shape: "naming OK", status: 500, json: { code: "OK" }, code: "UNKNOWN", named: false },
  { shape: "naming ok", status: 500, json: { code: "ok" }, code: "UNKNOWN", named: false },
  { shape: "numbered 0", status: 500, json: { code: 0 }, code: "UNKNOWN", named: false },
  { shape: "numbered 17", status: 500, json: { code: 17 }, code: "UNKNOWN", named: false },
  { shape: "numbered -1", status: 500, json: { code: -1 }, code: "UNKNOWN", named: false },
  { shape: "numbered by a fraction", status: 404, json: { code: 5.5 }, code: "NOT_FOUND", named: false },
  { shape: "with a number as text", status: 404, json: { code: "5" }, code: "NOT_FOUND", named: false },
  {
    shape: "naming an unknown code",
    status: 409,
    json: { code: "TOO_EARLY" },
    code: "ABORTED",
    named: false,
  },
  {
    shape: "naming a code in mixed case",
    status: 409,
    json: { code: "Already_Exists" },
    code: "ABORTED",
    named: false,
  },
  { shape: "naming __proto__", status: 500, json: { code: "__proto__" }, code: "UNKNOWN", named: false },
  { shape: "naming constructor", status: 500, json: { code: "constructor" }, code: "UNKNOWN", named: false },
  {
    shape: "naming toString",
    status: 500,
    json: { error: { status: "toString" } },
    code: "UNKNOWN",
    named: false,
  },
  {
    shape: "with a code that is an object",
    status: 500,
    json: { code: { a: 1 } },
    code: "UNKNOWN",
    named: false,
  },
  {
    shape: "with a code that is a list",
    status: 404,
    json: { code: ["ABORTED"] },
    code: "NOT_FOUND",
    named: false,
  },
  {
    shape: "with a message that is no text",
    status: 404,
    json: { message: 7 },
    code: "NOT_FOUND",
    named: false,
  },
  {
    shape: "a list of two",
    status: 400,
    json: [{ code: "ABORTED" }, {}],
    code: "INVALID_ARGUMENT",
    named: false,
  },
  { shape: "an empty list", status: 400, json: [], code: "INVALID_ARGUMENT", named: false },
  { shape: "an empty object", status: 404, json: {}, code: "NOT_FOUND", named: false },
  { shape: "null", status: 404, json: null, code: "NOT_FOUND", named: false },
  { shape: "a number", status: 404, json: 42, code: "NOT_FOUND", named: false },
  { shape: "true", status: 404, json: true, code: "NOT_FOUND", named: false },
  { shape: "a string", status: 404, json: "No job.", code: "NOT_FOUND", named: false, message: "No job." },
];

describe.each(transports)("over $name an error body", ({ options }) => {
  test.each(shapes)("that is $shape (HTTP $status) means $code", (shape) =>
    expectShape(server, options, shape),
  );
});
