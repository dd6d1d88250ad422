import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { Attempt, OperationName } from "../errors/codes.js";
import type { StatusError } from "../errors/statusError.js";
import { openPath } from "../files/diskFile.js";
import type { Disk } from "../files/openFile.js";
import type { RerankUsage } from "../generated/types.js";
import type { AttemptTrace, CallTrace, TraceDetails } from "../options/types.js";
import { memberOf, ownValue } from "../values.js";

export { unseenIn } from "../options/arguments.js";
export * as hiding from "../redact/redact.js";
export { explained, keyAdvice, mocked } from "../transport/node/networkErrors.js";
export { createNodeTransport as createTransport } from "../transport/node/transport.js";
export { inspectedAs } from "../values.js";

/** The runtime's part of the User-Agent. */
export const runtime: string = `node/${process.versions.node}`;

/** Opens files by their paths. */
export const disk: Disk = { openPath };

/** Reads an environment variable; undefined if it is not set. */
export function readVariable(name: string, _isNeeded: boolean): string | undefined {
  return ownValue(process.env, name);
}

/** Warns the program's user of a setting that has no effect. */
export function warn(text: string): void {
  process.emitWarning(text);
}

/** Does nothing: what hides keys in texts is loaded. */
export async function loadHiding(): Promise<void> {}

/** Always empty: Node needs no permission to read environment variables. */
export function permissionFor(_variables: readonly string[]): string {
  return "";
}

/** Always false: no visitors of a page could read the key. */
export function isBrowser(): boolean {
  return false;
}

const channels: Readonly<Record<"call" | "attempt", TracingChannel<unknown, object>>> = {
  call: tracingChannel("tunerank.call"),
  attempt: tracingChannel("tunerank.attempt"),
};

/** Whether anyone subscribes to calls or attempts. */
export function isTraced(what: keyof typeof channels): boolean {
  return channels[what].hasSubscribers;
}

/** Like {@link publish}, for the call of one API operation; also publishes the model, document count and tokens. */
export function publishRequest<
  R extends { readonly content: unknown },
  T extends { readonly data: unknown; attempts(): readonly Attempt[] },
>(
  request: R,
  targetOf: (request: R) => CallTrace,
  run: () => Promise<T | StatusError>,
): Promise<T | StatusError> {
  const { content } = request;
  const target = { ...targetOf(request), ...detailsOf(content) };
  const succeed = async (): Promise<T> => {
    const result = await run();
    if (result instanceof Error) throw result;
    return result;
  };
  const describe = ({ data, attempts }: T) => ({ attempts: attempts(), ...detailsOf(content, data) });
  return publish("call", target, succeed, describe).catch((error) => error);
}

// What a trace has in addition to its target, if the call sends documents. `data` is the value of a call that has ended.
function detailsOf(body: unknown, data?: unknown): TraceDetails | undefined {
  const documents = memberOf(body, "documents");
  if (!Array.isArray(documents)) return undefined;
  const model = (memberOf(data, "model") ?? memberOf(body, "model")) as string | undefined;
  return { documents: documents.length, model, usage: memberOf(data, "usage") as RerankUsage | undefined };
}

/** Runs a call or an attempt and publishes it. `describe` returns what the outcome adds to the trace. */
export async function publish<T>(
  what: keyof typeof channels,
  target: CallTrace | AttemptTrace,
  run: () => Promise<T>,
  describe: (outcome: T) => Partial<CallTrace & AttemptTrace>,
): Promise<T> {
  const context: Partial<CallTrace & AttemptTrace> = { ...target };
  let outcome: T | undefined;
  // The channel publishes the value of its promise, so the promise resolves to nothing: responses are not published.
  await channels[what].tracePromise(async () => {
    try {
      outcome = await run();
      Object.assign(context, describe(outcome));
    } catch (error) {
      context.attempts = (error as StatusError).attempts;
      throw error;
    }
  }, context);
  return outcome as T;
}

/** Publishes a call that failed before its request was ready, for example because an argument is invalid. */
export function publishRefusal(operation: OperationName, error: StatusError): void {
  if (!channels.call.hasSubscribers || Object.hasOwn(error, "method")) return;
  if (error.notRetried !== "refused" || error.attempts.length > 0) return;
  channels.call.tracePromise(() => Promise.reject(error), { operation, attempts: [] }).catch(() => {});
}
