import { traced } from "#platform";
import { hintFor } from "../errors/hint.js";
import type { Executed } from "../errors/httpStatus.js";
import { memberOf } from "../errors/memberOf.js";
import type { Attempt, StatusError } from "../errors/statusError.js";
import { Multipart } from "../files/multipart.js";
import type { OperationId } from "../generated/contract.js";
import type { CallSettings } from "../options/settings.js";
import { type Call, type Connection, makeAttempt, unexpected } from "./attempt.js";
import type { Outcome } from "./callPromise.js";
import { Lifetime } from "./deadline.js";
import { notify } from "./notify.js";
import { AttemptFailure, decideRetry, fullBudget, isRepeatable, repeatCost } from "./retry.js";

/** Makes one call: attempts and the waits between them, all within one deadline. @throws StatusError */
export function makeCall<Id extends OperationId, T>(
  connection: Connection,
  call: Call<Id, T>,
  settings: CallSettings,
): Promise<Outcome<T>> {
  return traced(call.operation, () => makeAttempts(connection, call, settings));
}

async function makeAttempts<Id extends OperationId, T>(
  connection: Connection,
  call: Call<Id, T>,
  settings: CallSettings,
): Promise<Outcome<T>> {
  const { budget } = connection;
  const { timeoutMs, signal } = settings;
  const lifetime = new Lifetime({
    timeoutMs,
    attemptTimeoutMs: attemptTimeout(call.operation, settings),
    signal,
  });
  const attempts: Attempt[] = [];
  let executed: Executed = "no";
  try {
    for (;;) {
      const started = performance.now();
      try {
        const { data, answer } = await makeAttempt(connection, call, settings, lifetime);
        budget.left = Math.min(fullBudget, budget.left + 1);
        const durationMs = performance.now() - started;
        attempts.push({ number: attempts.length + 1, durationMs, httpStatus: answer.status });
        report(settings, call.operation, attempts);
        return { data, answer, attempts };
      } catch (thrown) {
        const failure = thrown instanceof AttemptFailure ? thrown : unexpected(call.operation, thrown);
        const { error, sent } = failure;
        executed = worse(executed, error.executed);
        if (sent) attempts.push(recordOf(error, attempts.length + 1, performance.now() - started));
        const waitMs = sent ? waitAfter(failure, connection, call, settings, lifetime, attempts) : undefined;
        if (sent) report(settings, call.operation, attempts, waitMs);
        if (waitMs === undefined) throw complete(error, executed, attempts);
        budget.left -= repeatCost;
        await lifetime.wait(waitMs);
      }
    }
  } finally {
    lifetime.dispose();
  }
}

// Half of the time for a first try leaves the other half for a second, where there may be one.
function attemptTimeout(operation: OperationId, settings: CallSettings): number {
  const { attemptTimeoutMs, timeoutMs, maxRetries, repeatable } = settings;
  const half = isRepeatable(operation, repeatable) && maxRetries > 0;
  return attemptTimeoutMs ?? (half ? timeoutMs / 2 : timeoutMs);
}

function waitAfter<Id extends OperationId, T>(
  { error, events }: AttemptFailure,
  { apiKey, budget }: Connection,
  { operation, input }: Call<Id, T>,
  { repeatable, maxRetries }: CallSettings,
  lifetime: Lifetime,
  attempts: readonly Attempt[],
): number | undefined {
  return decideRetry({
    operation,
    repeatable,
    events,
    code: error.code,
    retries: attempts.length - 1,
    maxRetries,
    retryAfterMs: error.retryAfterMs,
    timeLeftMs: lifetime.ended ? 0 : lifetime.leftMs,
    budget: budget.left,
    replayable: !(input.body instanceof Multipart) || input.body.part.file.replayable,
    freshKey:
      typeof apiKey === "function" &&
      attempts.slice(0, -1).every((attempt) => memberOf(attempt, "httpStatus") !== 401),
    random: Math.random(),
  });
}

function recordOf({ code, httpStatus, cause }: StatusError, number: number, durationMs: number): Attempt {
  return {
    number,
    durationMs,
    code,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(cause !== undefined && { cause }),
  };
}

const severity: readonly Executed[] = ["no", "unknown", "yes"];

// The operation may have run in any of the attempts.
function worse(a: Executed, b: Executed): Executed {
  return severity.indexOf(a) > severity.indexOf(b) ? a : b;
}

function complete(error: StatusError, executed: Executed, attempts: readonly Attempt[]): StatusError {
  const { code, operation } = error;
  const changed = executed !== error.executed && { executed, hint: hintFor(code, executed, operation) };
  return Object.assign(error, { attempts }, changed);
}

// Telling somebody of an attempt must not change what becomes of it.
function report(
  { onAttempt }: CallSettings,
  operation: OperationId,
  attempts: readonly Attempt[],
  waitMs?: number,
): void {
  const last = attempts.at(-1);
  if (onAttempt === undefined || last === undefined) return;
  notify(onAttempt, { ...last, operation, ...(waitMs !== undefined && { waitMs }) });
}
