// Runs one call against the test service of the package, with the client or with a loop around `fetch`.
import { type AttemptEvent, createClient, isStatusError, type StatusError } from "tunerank";
import { createTestService, type TestService } from "tunerank/testing";
import { calls, type LabOperation, loop, loopCalls } from "./calls.js";
import type { Preset } from "./presets.js";

/** A stretch of a call's time, in milliseconds since its start; while it goes on it has no end. */
export interface Stretch {
  readonly kind: "attempt" | "wait";
  readonly from: number;
  readonly to?: number;
  /** Why an attempt failed: a code, a status, an error's name. */
  readonly code?: string;
}

const told = [
  "code",
  "codeSource",
  "executed",
  "executedBecause",
  "httpStatus",
  "notRetried",
  "hint",
] as const;

/** How a call went. */
export interface Course {
  readonly operation: LabOperation;
  readonly stretches: readonly Stretch[];
  /** How many requests the test service has received. */
  readonly requests: number;
  /** How often it did what it was asked. */
  readonly times: number;
  readonly state: "done" | "failed";
  /** Of a call of the client that failed. */
  readonly error?: Pick<StatusError, (typeof told)[number]>;
  /** Of a loop that failed. */
  readonly mistake?: string;
}

/** What is to be tried: the first request meets the failure. */
export interface Experiment {
  readonly operation: LabOperation;
  readonly preset: Preset;
  /** How long the test service takes for a response. */
  readonly responseMs: number;
}

type Change = (next: (stretches: readonly Stretch[], now: number) => readonly Stretch[]) => void;
const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...seen: unknown[]) => Promise<void>;
const silent = { log: () => {} };

/** Makes the call with the client. */
export async function run(experiment: Experiment): Promise<Course> {
  const send = new AsyncFunction("client", "console", `"use strict";\n${calls[experiment.operation]}`);
  const clientOf = (service: TestService, onAttempt: (event: AttemptEvent) => void) =>
    createClient({
      baseUrl: "https://service.test",
      accountId: "acme",
      apiKey: "key-of-the-lab",
      fetch: service.fetch,
      onAttempt,
      ...experiment.preset.options,
    });
  return await follow(experiment, async (service, change) => {
    change(() => [{ kind: "attempt", from: 0 }]);
    await send(
      clientOf(service, (event) => change((stretches, now) => afterAttempt(stretches, event, now))),
      silent,
    );
  });
}

/** Makes the same call with `fetch` in a loop. */
export function runLoop(experiment: Experiment): Promise<Course> {
  return follow(experiment, async (service, change) => {
    const fetch = async (url: string, init: object): Promise<unknown> => {
      change(nextAttempt);
      const ended = (code?: string): void =>
        change((stretches, to) => ending(stretches, { to, ...(code && { code }) }));
      try {
        const response = await service.fetch(url, init);
        ended(response.ok ? undefined : `HTTP ${response.status}`);
        return response;
      } catch (error) {
        ended(error instanceof Error ? error.name : String(error));
        throw error;
      }
    };
    const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
    const source = `"use strict";\n${loop}\n${loopCalls[experiment.operation]}`;
    const send = new AsyncFunction("fetch", "sleep", "auth", "console", source);
    await send(fetch, sleep, { authorization: "Bearer key-of-the-lab" }, silent);
  });
}

async function follow(
  { operation, preset, responseMs }: Experiment,
  call: (service: TestService, change: Change) => Promise<void>,
): Promise<Course> {
  const service = createTestService();
  const delay = responseMs > 0 ? { delayMs: responseMs } : {};
  if (preset.failure) service.fail(operation, { ...preset.failure, times: 1, ...delay });
  if (responseMs > 0) service.fail(operation, { ...delay, times: Number.POSITIVE_INFINITY });
  const started = performance.now();
  const now = (): number => Math.round(performance.now() - started);
  let stretches: readonly Stretch[] = [];
  const outcome = await call(service, (next) => {
    stretches = next(stretches, now());
  }).then(
    () => ({ state: "done" }) as const,
    (error) => ({ state: "failed", ...toldOf(error) }) as const,
  );
  return {
    operation,
    stretches: stretches.map((stretch) => ({ to: now(), ...stretch })),
    requests: service.requests.length,
    times: timesDone(operation, service, outcome.state),
    ...outcome,
  };
}

function toldOf(error: unknown): Pick<Course, "error" | "mistake"> {
  if (!isStatusError(error)) return { mistake: String(error) };
  return { error: Object.fromEntries(told.map((name) => [name, error[name]])) as unknown as StatusError };
}

function timesDone(operation: LabOperation, { datasets, jobs }: TestService, state: Course["state"]): number {
  if (operation === "rerank") return Number(state === "done");
  if (operation === "resume")
    return Number([...jobs.values()].some((job) => job.state === "JOB_STATE_RUNNING"));
  return [...datasets.values()].reduce((sum, { files }) => sum + files.length, 0);
}

// An event comes when an attempt has ended, and says how long the client waits before the next.
function afterAttempt(stretches: readonly Stretch[], event: AttemptEvent, now: number): readonly Stretch[] {
  const { code, waitMs } = event;
  const done = ending(stretches, { to: now, ...(code !== undefined && { code }) });
  if (waitMs === undefined) return done;
  return [...done, { kind: "wait", from: now, to: now + waitMs }, { kind: "attempt", from: now + waitMs }];
}

function ending(stretches: readonly Stretch[], end: Partial<Stretch>): readonly Stretch[] {
  const last = stretches.at(-1);
  return last === undefined ? stretches : [...stretches.slice(0, -1), { ...last, ...end }];
}

function nextAttempt(stretches: readonly Stretch[], now: number): readonly Stretch[] {
  const { to } = stretches.at(-1) ?? {};
  if (to === undefined) return [{ kind: "attempt", from: 0 }];
  return [...stretches, { kind: "wait", from: to, to: now }, { kind: "attempt", from: now }];
}
