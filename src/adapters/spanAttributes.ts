import type { StatusError } from "../errors/statusError.js";
import type { AttemptTrace, CallTrace } from "../platform/tracing.js";

type Attributes = Record<string, string | number | boolean>;

/** What is known of a call when it begins. */
export function attributesOfCall(call: CallTrace): Attributes {
  const { operation, documents, batches, model } = call;
  return defined({
    "tunerank.operation": operation,
    ...addressOf(call),
    "gen_ai.request.model": model,
    "tunerank.documents": documents,
    "tunerank.batches": batches,
  });
}

/** What is known of a call when it has ended. */
export function endOfCall({ attempts, error, model, usage }: CallTrace): Attributes {
  const failure = error as StatusError | undefined;
  return defined({
    "tunerank.attempts": attempts?.length,
    "gen_ai.response.model": usage && model,
    "gen_ai.usage.input_tokens": usage?.prompt_tokens,
    "tunerank.usage.total_tokens": usage?.total_tokens,
    "error.type": failure?.code,
    "tunerank.executed": failure?.executed,
  });
}

/** What is known of an attempt when it begins. */
export function attributesOfAttempt(attempt: AttemptTrace): Attributes {
  const { number } = attempt;
  return defined({ ...addressOf(attempt), "http.request.resend_count": number > 1 ? number - 1 : undefined });
}

/** What is known of an attempt when it has ended. */
export function endOfAttempt({ code, httpStatus, requestId }: AttemptTrace): Attributes {
  return defined({
    "http.response.status_code": httpStatus,
    "tunerank.request_id": requestId,
    "error.type": code,
  });
}

function addressOf({ host = "", method, path }: CallTrace | AttemptTrace): Record<string, unknown> {
  const [, address, port] = /^(.+?)(?::(\d+))?$/.exec(host) ?? [];
  return {
    "http.request.method": method,
    "url.path": path,
    "server.address": address,
    "server.port": port === undefined ? undefined : Number(port),
  };
}

function defined(attributes: Readonly<Record<string, unknown>>): Attributes {
  const found = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as Attributes;
}
