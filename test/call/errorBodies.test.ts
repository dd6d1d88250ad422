import { describe, expect, test } from "vitest";
import type { ClientOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { type RecordingServer, useRecordingServer } from "../support/recordingServer.js";
import { withHint } from "../support/withHint.js";

/** An error response, and what the StatusError must say: code, whether the body named it, message. */
interface ErrorShape {
  readonly shape: string;
  readonly status: number;
  readonly json: unknown;
  readonly code: string;
  readonly named: boolean;
  readonly message?: string;
}

/** Responds to a call with the shape and checks what becomes of it. */
async function expectShape(
  server: RecordingServer,
  options: ClientOptions,
  { status, json, code, named, message }: ErrorShape,
): Promise<void> {
  server.reply({ status, json });
  const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
  expect(error).toMatchObject({ code, httpStatus: status, codeSource: named ? "body" : "status" });
  if (named) expect(error.inferred).toBe(false);
  if (message === undefined) expect(error.message).toMatch(new RegExp(`^\\[${code}\\] .*HTTP ${status}`));
  else expect(error.message).toBe(withHint(`[${code}] ${message}`, error));
  expect(error.body).toEqual(json);
}

const server = useRecordingServer();

describe("a body that names none of the service's failures,", () => {
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
    {
      shape: "naming constructor",
      status: 500,
      json: { code: "constructor" },
      code: "UNKNOWN",
      named: false,
    },
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
});

describe("a body that names a failure,", () => {
  const shapes: readonly ErrorShape[] = [
    {
      shape: "Google's",
      status: 400,
      json: { error: { code: 400, message: "Bad state.", status: "FAILED_PRECONDITION", details: [] } },
      code: "FAILED_PRECONDITION",
      named: true,
      message: "Bad state.",
    },
    {
      shape: "Google's in a list of one",
      status: 400,
      json: [{ error: { code: 400, message: "Too far.", status: "OUT_OF_RANGE" } }],
      code: "OUT_OF_RANGE",
      named: true,
      message: "Too far.",
    },
    {
      shape: "Google's without a name: its number is an HTTP status, not a code",
      status: 404,
      json: { error: { code: 5, message: "No such job." } },
      code: "NOT_FOUND",
      named: false,
      message: "No such job.",
    },
    {
      shape: "grpc-gateway's, its number and the HTTP status agreeing",
      status: 409,
      json: { code: 6, message: "It exists.", details: [] },
      code: "ALREADY_EXISTS",
      named: true,
      message: "It exists.",
    },
    {
      shape: "grpc-gateway's, its number contradicting the HTTP status",
      status: 500,
      json: { code: 6, message: "It exists." },
      code: "UNKNOWN",
      named: false,
      message: "It exists.",
    },
    {
      shape: "Connect's",
      status: 404,
      json: { code: "not_found", message: "No such job." },
      code: "NOT_FOUND",
      named: true,
      message: "No such job.",
    },
    {
      shape: "Connect's two words",
      status: 500,
      json: { code: "data_loss", message: "Gone." },
      code: "DATA_LOSS",
      named: true,
      message: "Gone.",
    },
    {
      shape: "Connect's canceled",
      status: 499,
      json: { code: "canceled" },
      code: "CANCELLED",
      named: true,
    },
    {
      shape: "OpenAI's",
      status: 401,
      json: {
        error: { message: "Wrong key.", type: "invalid_request_error", param: null, code: "invalid_api_key" },
      },
      code: "UNAUTHENTICATED",
      named: false,
      message: "Wrong key.",
    },
    {
      shape: "OpenAI's with one of the service's codes",
      status: 409,
      json: { error: { message: "It exists.", type: "x", param: "id", code: "ALREADY_EXISTS" } },
      code: "ALREADY_EXISTS",
      named: true,
      message: "It exists.",
    },
    {
      shape: "flat",
      status: 404,
      json: { message: "No such job.", param: "id", code: "NOT_FOUND", type: "error" },
      code: "NOT_FOUND",
      named: true,
      message: "No such job.",
    },
    {
      shape: "FastAPI's text",
      status: 404,
      json: { detail: "Not Found" },
      code: "NOT_FOUND",
      named: false,
      message: "Not Found",
    },
    {
      shape: "FastAPI's list",
      status: 422,
      json: {
        detail: [
          { loc: ["body", "query"], msg: "field required", type: "missing" },
          { loc: ["body", "top_n"], msg: "not an integer", type: "int_parsing" },
        ],
      },
      code: "INVALID_ARGUMENT",
      named: false,
      message: "field required; not an integer",
    },
    {
      shape: "problem details' detail",
      status: 403,
      json: { type: "about:blank", title: "Forbidden", status: 403, detail: "Not your account." },
      code: "PERMISSION_DENIED",
      named: false,
      message: "Not your account.",
    },
    {
      shape: "problem details' title",
      status: 403,
      json: { type: "about:blank", title: "Forbidden", status: 403 },
      code: "PERMISSION_DENIED",
      named: false,
      message: "Forbidden",
    },
    {
      shape: "message alone",
      status: 403,
      json: { message: "No." },
      code: "PERMISSION_DENIED",
      named: false,
      message: "No.",
    },
    {
      shape: "Message alone",
      status: 403,
      json: { Message: "No." },
      code: "PERMISSION_DENIED",
      named: false,
      message: "No.",
    },
    {
      shape: "error as text",
      status: 503,
      json: { error: "busy" },
      code: "UNAVAILABLE",
      named: false,
      message: "busy",
    },
    {
      shape: "error's name before the flat one",
      status: 400,
      json: { error: { status: "OUT_OF_RANGE", code: "ABORTED" }, code: "FAILED_PRECONDITION", message: "m" },
      code: "OUT_OF_RANGE",
      named: true,
      message: "m",
    },
    {
      shape: "error's code before the flat one",
      status: 400,
      json: { error: { status: 400, code: "OUT_OF_RANGE" }, code: "FAILED_PRECONDITION" },
      code: "OUT_OF_RANGE",
      named: true,
    },
    {
      shape: "a code of another status",
      status: 500,
      json: { code: "NOT_FOUND", message: "m" },
      code: "NOT_FOUND",
      named: true,
      message: "m",
    },
  ];

  describe.each(transports)("over $name an error body", ({ options }) => {
    test.each(shapes)("in the shape of $shape (HTTP $status) means $code", (shape) =>
      expectShape(server, options, shape),
    );
  });
});
