import { describe, test } from "vitest";
import { transports } from "../support/clients.js";
import { type ErrorShape, expectShape } from "../support/errorShape.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

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
