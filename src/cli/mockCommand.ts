import type { StatusCode } from "../index.js";
import { findOperation, testNames } from "../testing/behaviours.js";
import { createTestService, type TestOperation } from "../testing/index.js";
import { type Context, cannotListen, UsageError } from "./context.js";

export const mockDefaults = { port: 4010, host: "127.0.0.1" } as const;
// The mock server may run for weeks, so it keeps only its last requests.
const keepRequests = 1000;

// A value of --fail, such as rerank:503x2, upload:reset or rerank:429x2,retry-after=5.
const script =
  /^(\w+):(?:([2-5]\d\d)|([A-Z_]+)|(reset|stall|truncate))(?:x(\d{1,6}))?(?:,retry-after=(\d+(?:\.\d+)?))?$/;

export async function run({ options, terminal, signal }: Context): Promise<void> {
  const { port = mockDefaults.port, host = mockDefaults.host, fail = [], strict, delay } = options;
  const service = createTestService({ strict: strict === true, keepRequests });
  const late = delay === undefined ? {} : { delayMs: delay };
  for (const text of fail) {
    const [, operation, status, code, kind, times, retryAfter] = script.exec(text) ?? [];
    if (findOperation(operation) === undefined)
      throw new UsageError(
        `--fail must be OPERATION:FAILURE, such as rerank:503x2 or rerank:429,retry-after=5. OPERATION is one of ${testNames.join(", ")}, or an operation's id. FAILURE is a status from 200 to 599, reset, stall, truncate, or a code such as UNAVAILABLE.`,
      );
    service.fail(operation as TestOperation, {
      ...(status && { status: Number(status) }),
      ...(code && { code: code as StatusCode }),
      ...(kind && { [kind]: true }),
      ...(times && { times: Number(times) }),
      ...(retryAfter && { retryAfter: Number(retryAfter) }),
      ...late,
    });
  }
  for (const name of delay === undefined ? [] : testNames)
    service.fail(name, { ...late, times: Number.POSITIVE_INFINITY });
  const server = await service
    .listen({
      ...{ port, host, allowOrigins: options.allowOrigin },
      onRequest({ method, path, status, requestId, durationMs }) {
        if (terminal.quiet) return;
        const ms = Math.round(durationMs);
        const line = `${method} ${path} ${status ?? "no response"} ${ms} ms ${requestId ?? ""}`;
        terminal.tell({ method, path, status, requestId, durationMs: ms }, line);
      },
    })
    .catch(cannotListen);
  const line = `A mock of the service listens on ${server.url}; any API key will do. Ctrl-C stops it.`;
  terminal.result({ url: server.url }, line);
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await server.close();
}
