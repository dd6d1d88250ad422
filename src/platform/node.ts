import { tracingChannel } from "node:diagnostics_channel";
import type { Attempt, OperationName } from "../errors/codes.js";
import type { StatusError } from "../errors/statusError.js";
import { openPath } from "../files/diskFile.js";
import type { Disk } from "../files/openFile.js";
import type { RerankUsage } from "../generated/types.js";
import type { AttemptTrace, CallTrace, TraceDetails } from "../options/types.js";
import { memberOf } from "../values.js";

export { checkSeen, unseenIn } from "../options/arguments.js";
export {
  isBeforeConnection,
  keyAdvice,
  mocked,
  unconnected,
  wordsFor,
} from "../transport/node/networkErrors.js";
export { createNodeTransport as createTransport } from "../transport/node/transport.js";
export { inspectedAs } from "../values.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = `node/${process.versions.node}`;

/** Files. */
export const disk: Disk = { openPath };

/** What the environment has. */
export function readVariable(name: string, _isNeeded: boolean): string | undefined {
  const { env } = process;
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** Tells the program's user of a setting that does nothing. */
export function warn(text: string): void {
  process.emitWarning(text);
}

/** Nobody has to allow it. */
export function permissionFor(_variables: readonly string[]): string {
  return "";
}

/** Whether visitors could read the key. */
export function isBrowser(): boolean {
  return false;
}

const calls = tracingChannel<unknown, CallTrace>("tunerank.call");
const attempts = tracingChannel<unknown, AttemptTrace>("tunerank.attempt");

/** What runs a call and publishes it on `node:diagnostics_channel`; undefined where nobody listens. */
export function callTracer(): typeof publish | undefined {
  return calls.hasSubscribers ? publish : undefined;
}

/** The same for a call of one request. */
export function requestTracer(): typeof publishRequest | undefined {
  return calls.hasSubscribers ? publishRequest : undefined;
}

function publishRequest<T extends { readonly data: unknown; readonly attempts: readonly Attempt[] }>(
  target: CallTrace,
  run: () => Promise<T>,
  body: unknown,
): Promise<T> {
  return publish({ ...target, ...detailsOf(body) }, run, ({ data }) => detailsOf(body, data));
}

// What the trace of a call has besides where it goes, if it sends documents. Its value comes with its end.
function detailsOf(body: unknown, data?: unknown): TraceDetails | undefined {
  const documents = memberOf(body, "documents");
  if (!Array.isArray(documents)) return undefined;
  const model = (memberOf(data, "model") ?? memberOf(body, "model")) as string | undefined;
  return { documents: documents.length, model, usage: memberOf(data, "usage") as RerankUsage | undefined };
}

// `describe` gives what the outcome adds to the trace.
async function publish<T extends { readonly attempts: readonly Attempt[] }>(
  target: CallTrace,
  run: () => Promise<T>,
  describe: (outcome: T) => TraceDetails | undefined,
): Promise<T> {
  const context: CallTrace = { ...target };
  let outcome: T | undefined;
  // The channel publishes what its promise resolves to, so that must not be the response.
  await calls.tracePromise(async () => {
    try {
      outcome = await run();
      Object.assign(context, { attempts: outcome.attempts }, describe(outcome));
    } catch (error) {
      context.attempts = (error as StatusError).attempts;
      throw error;
    }
  }, context);
  return outcome as T;
}

/** Publishes a call that was refused before a request was ready. */
export function publishRefusal(operation: OperationName, error: StatusError): void {
  if (!calls.hasSubscribers || Object.hasOwn(error, "method")) return;
  if (error.notRetried !== "refused" || error.attempts.length > 0) return;
  calls.tracePromise(() => Promise.reject(error), { operation, attempts: [] }).catch(() => {});
}

/** What runs an attempt and publishes it; undefined where nobody listens. */
export function attemptTracer(): typeof publishAttempt | undefined {
  return attempts.hasSubscribers ? publishAttempt : undefined;
}

// `describe` gives what becomes of it, after so many milliseconds.
async function publishAttempt<T>(
  target: AttemptTrace,
  run: () => Promise<T>,
  describe: (result: T, durationMs: number) => Partial<Attempt>,
): Promise<T> {
  const context: AttemptTrace = { ...target };
  const started = performance.now();
  let result: T | undefined;
  await attempts.tracePromise(async () => {
    result = await run();
    Object.assign(context, describe(result, performance.now() - started));
  }, context);
  return result as T;
}
