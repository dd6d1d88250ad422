// Runs one call against the test service of the package, with the client or with a loop around `fetch`, in this page or process.
import { type AttemptEvent, createClient, isStatusError, type StatusError } from "tunerank";
import { createTestService, type TestService } from "tunerank/testing";
import { calls, type LabOperation, loop, loopCalls } from "./calls.js";
import type { Preset } from "./presets.js";

/** A stretch of a call's time, in milliseconds since its start; without an end it goes on. */
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

/** What is known of a call so far. */
export interface Course {
  readonly operation: LabOperation;
  readonly stretches: readonly Stretch[];
  /** How many requests the test service has received. */
  readonly requests: number;
  /** How often it did what it was asked. */
  readonly times: number;
  readonly state: "running" | "done" | "failed";
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

type Show = (course: Course) => void;
type Change = (next: (stretches: readonly Stretch[], now: number) => readonly Stretch[]) => void;
const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...seen: unknown[]) => Promise<void>;
const silent = { log: () => {} };

/** Makes the call with the client. @param show Called with each thing that happens. */
export async function run(experiment: Experiment, show: Show = () => {}): Promise<Course> {
  const send = new AsyncFunction("client", "console", `"use strict";\n${calls[experiment.operation]}`);
  const clientOf = (service: TestService, onAttempt?: (event: AttemptEvent) => void) =>
    createClient({
      baseUrl: "https://service.test",
      accountId: "acme",
      apiKey: "key-of-the-lab",
      fetch: service.fetch,
      dangerouslyAllowBrowser: true,
      ...(onAttempt && { onAttempt, ...experiment.preset.options }),
    });
  // The client loads a method with its first call: that is no part of what is measured.
  await send(clientOf(createTestService()), silent);
  return await follow(experiment, show, async (service, change) => {
    change(() => [{ kind: "attempt", from: 0 }]);
    await send(
      clientOf(service, (event) => change((stretches, now) => afterAttempt(stretches, event, now))),
      silent,
    );
  });
}

/** Makes the same call with `fetch` in a loop. @param show Called with each thing that happens. */
export function runLoop(experiment: Experiment, show: Show = () => {}): Promise<Course> {
  return follow(experiment, show, async (service, change) => {
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
  show: Show,
  call: (service: TestService, change: Change) => Promise<void>,
): Promise<Course> {
  const service = createTestService();
  const delay = responseMs > 0 ? { delayMs: responseMs } : {};
  if (preset.failure) service.fail(operation, { ...preset.failure, times: 1, ...delay });
  if (responseMs > 0) service.fail(operation, { ...delay, times: Number.POSITIVE_INFINITY });
  const started = performance.now();
  const now = (): number => Math.round(performance.now() - started);
  let course: Course = { operation, stretches: [], requests: 0, times: 0, state: "running" };
  const update = (changes: Partial<Course>): void => {
    const state = changes.state ?? course.state;
    const times = timesDone(operation, service, state);
    course = { ...course, requests: service.requests.length, times, ...changes };
    show(course);
  };
  const closed = (): readonly Stretch[] =>
    course.stretches.map((stretch) => (stretch.to === undefined ? { ...stretch, to: now() } : stretch));
  try {
    await call(service, (next) => update({ stretches: next(course.stretches, now()) }));
    update({ state: "done", stretches: closed() });
  } catch (error) {
    const stretches = closed();
    if (isStatusError(error))
      update({
        state: "failed",
        stretches,
        error: Object.fromEntries(told.map((name) => [name, error[name]])) as unknown as StatusError,
      });
    else update({ state: "failed", stretches, mistake: String(error) });
  }
  return course;
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
