import { isLoopback } from "../engine.js";
import { isStatusError, type StatusCode } from "../index.js";
import { findOperation, testNames } from "../testing/behaviours.js";
import {
  createTestService,
  type ScriptedFailure,
  type ServedRequest,
  type TestOperation,
} from "../testing/index.js";
import { type Context, checkPort, listenError, UsageError } from "./context.js";
import type { Terminal } from "./terminal.js";

interface MockOptions {
  readonly port?: number;
  readonly host?: string;
  readonly allowOrigin?: readonly string[];
  readonly fail?: readonly string[];
  readonly strict?: boolean;
}

/** The defaults of the options of `tunerank mock`. */
export const mockDefaults = { port: 4010, host: "127.0.0.1" } as const;
// The mock server may run for weeks, so it keeps only its last requests.
const keepRequests = 1000;

/** `tunerank mock`: runs the mock server until it is stopped. */
export async function run({ options, terminal, signal }: Context<MockOptions>): Promise<void> {
  const {
    port = mockDefaults.port,
    host = mockDefaults.host,
    allowOrigin: allowOrigins,
    fail = [],
    strict,
  } = options;
  checkPort(port);
  const service = createTestService({ strict: strict === true, keepRequests });
  for (const script of fail) asOption("--fail: ", () => service.fail(...failureOf(script)));
  const onRequest = terminal.quiet ? undefined : (request: ServedRequest) => show(request, terminal);
  const server = await service.listen({ port, host, allowOrigins, onRequest }).catch((error: Error) => {
    throw listenError(ofCommand(error), port);
  });
  const line = `A mock of the service listens on ${server.url}; any API key will do. Ctrl-C stops it.`;
  terminal.result({ url: server.url }, line);
  if (!isLoopback(host)) {
    terminal.note(
      "Anybody who can reach this machine can call it, without your key. A client on another machine needs allowInsecureHttp.",
    );
  }
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await server.close();
}

// Names in the messages of the test service, and the words that replace them on the command line.
const words: readonly (readonly [ofService: RegExp, ofCommand: string])[] = [
  [/^times\b/, "the number after x"],
  [/^allowOrigins must hold origins\b/, "--allow-origin must be an origin"],
];

/** An error of the test service, in the words of the command line. */
function ofCommand(error: Error, option = ""): Error {
  if (!isStatusError(error) || error.cause !== undefined) return error;
  const text = words.reduce((all, [ofService, ofCommand]) => all.replace(ofService, ofCommand), error.text);
  return new UsageError(option + text);
}

function asOption(option: string, use: () => void): void {
  try {
    use();
  } catch (error) {
    throw ofCommand(error as Error, option);
  }
}

/** What FAILURE may be in --fail OPERATION:FAILURE, as messages name it. */
const failures = "a status from 200 to 599, reset, stall, truncate, or a code such as UNAVAILABLE";
const script = /^(\w+):(?:([2-5]\d\d)|([A-Z_]+)|(reset|stall|truncate))(?:x(\d{1,6}))?$/;

// Parses a value of --fail, such as rerank:503x2, upload:reset or scale:RESOURCE_EXHAUSTED.
function failureOf(text: string): [operation: TestOperation, failure: ScriptedFailure] {
  const [, operation, status, code, kind, times] = script.exec(text) ?? [];
  if (findOperation(operation) === undefined) {
    const [given] = text.split(":");
    if (findOperation(given) !== undefined)
      throw new UsageError(
        `--fail ${given}:FAILURE needs ${failures}; add xN for N requests, such as 503x2.`,
      );
    throw new UsageError(
      `--fail must be OPERATION:FAILURE, such as rerank:503x2. OPERATION is one of ${testNames.join(", ")}, or an operation's id. FAILURE is ${failures}.`,
    );
  }
  const failure = {
    ...(status && { status: Number(status) }),
    ...(code && { code: code as StatusCode }),
    ...(kind && { [kind]: true }),
    ...(times && { times: Number(times) }),
  };
  return [operation as TestOperation, failure];
}

function show(request: ServedRequest, terminal: Terminal): void {
  const { method, path, status, requestId, durationMs } = request;
  const ms = Math.round(durationMs);
  const line = `${method} ${path} ${status ?? "no response"} ${ms} ms ${requestId ?? ""}`;
  terminal.tell({ method, path, status, requestId, durationMs: ms }, line);
}
