// Runs one call against the real test service, with the real client or with a loop around `fetch`, in this page or process.
import { type AttemptEvent, type CallOptions, createClient, isStatusError, type StatusError } from "tunerank";
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
  "inferred",
] as const;

/** What the lab shows of an error. */
export type Told = Pick<StatusError, (typeof told)[number]>;

/** What is known of a call so far. */
export interface Course {
  readonly operation: LabOperation;
  readonly stretches: readonly Stretch[];
  /** How many requests the test service has received. */
  readonly requests: number;
  /** What the test service has now. */
  readonly kept: Kept;
  readonly printed: readonly string[];
  readonly state: "running" | "done" | "failed";
  /** Of a call of the client that failed. */
  readonly error?: Told;
  /** Of a loop that failed, and of a snippet that is wrong in itself. */
  readonly mistake?: string;
}

/** What the test service has of what it was asked: how many files, replicas; the state of the job. */
export interface Kept {
  readonly files: number;
  readonly replicas: number;
  readonly job: string;
}

/** What is to be tried. */
export interface Experiment {
  readonly operation: LabOperation;
  /** The snippet; it sees `client` and `console`. */
  readonly code?: string;
  readonly preset: Preset;
  /** How many requests meet the failure. */
  readonly times: number;
  /** How long the test service takes for a response. */
  readonly responseMs: number;
}

type Show = (course: Course) => void;
type Snippet = (...seen: unknown[]) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Snippet;

/** Makes the call with the client. @param show Called with each thing that happens. */
export function run(experiment: Experiment, show: Show = () => {}): Promise<Course> {
  const { operation, preset, code = calls[operation] } = experiment;
  return follow(experiment, show, async ({ service, now, change, console }) => {
    const onAttempt = (event: AttemptEvent): void =>
      change((stretches) => afterAttempt(stretches, event, now()));
    change(() => [{ kind: "attempt", from: 0 }]);
    const client = clientOf(service.fetch, { onAttempt, ...preset.options });
    await new AsyncFunction("client", "console", `"use strict";\n${code}`)(client, console);
  });
}

/** Makes the same call with `fetch` in a loop. @param show Called with each thing that happens. */
export function runLoop(experiment: Experiment, show: Show = () => {}): Promise<Course> {
  return follow(experiment, show, async ({ service, now, change, console }) => {
    const fetch = async (url: string, init: object): Promise<unknown> => {
      change((stretches) => nextAttempt(stretches, now()));
      const ended = (code?: string): void =>
        change((stretches) => ending(stretches, { to: now(), ...(code && { code }) }));
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
    await send(fetch, sleep, { authorization: "Bearer key-of-the-lab" }, console);
  });
}

interface Lane {
  readonly service: TestService;
  readonly now: () => number;
  readonly change: (next: (stretches: readonly Stretch[]) => readonly Stretch[]) => void;
  readonly console: object;
}

async function follow(
  experiment: Experiment,
  show: Show,
  call: (lane: Lane) => Promise<void>,
): Promise<Course> {
  const { operation } = experiment;
  const service = serviceFor(experiment);
  const started = performance.now();
  let course: Course = {
    operation,
    stretches: [],
    requests: 0,
    kept: keptBy(service),
    printed: [],
    state: "running",
  };
  const update = (changes: Partial<Course>): void => {
    course = { ...course, requests: service.requests.length, kept: keptBy(service), ...changes };
    show(course);
  };
  const now = (): number => Math.round(performance.now() - started);
  const change: Lane["change"] = (next) => update({ stretches: next(course.stretches) });
  const console = {
    log: (...values: unknown[]) => update({ printed: [...course.printed, values.map(textOf).join(" ")] }),
  };
  const closed = (): readonly Stretch[] =>
    course.stretches.map((stretch) => (stretch.to === undefined ? { ...stretch, to: now() } : stretch));
  try {
    await call({ service, now, change, console });
    update({ state: "done", stretches: closed() });
  } catch (error) {
    const stretches = closed();
    if (isStatusError(error)) update({ state: "failed", stretches, error: toldOf(error) });
    else update({ state: "failed", stretches, mistake: String(error) });
  }
  return course;
}

function toldOf(error: StatusError): Told {
  return Object.fromEntries(told.map((name) => [name, error[name]])) as unknown as Told;
}

function keptBy({ datasets, deployments, jobs }: TestService): Kept {
  const files = [...datasets.values()].reduce((sum, dataset) => sum + dataset.files.length, 0);
  const [deployment] = deployments.values();
  const [job] = jobs.values();
  return { files, replicas: deployment?.replicaCount ?? 1, job: job?.state ?? "JOB_STATE_PAUSED" };
}

function serviceFor({ operation, preset, times, responseMs }: Experiment): TestService {
  const service = createTestService();
  const { failure } = preset;
  if (failure) service.fail(operation, { ...failure, times, ...(responseMs > 0 && { delayMs: responseMs }) });
  if (responseMs > 0) service.fail(operation, { delayMs: responseMs, times: Number.POSITIVE_INFINITY });
  return service;
}

function clientOf(fetch: TestService["fetch"], options: CallOptions): object {
  return createClient({
    baseUrl: "https://service.test",
    accountId: "acme",
    // A function is asked again after a 401.
    apiKey: () => "key-of-the-lab",
    fetch,
    dangerouslyAllowBrowser: true,
    ...options,
  });
}

// An event comes when an attempt has ended, and says how long the client waits before the next.
function afterAttempt(stretches: readonly Stretch[], event: AttemptEvent, now: number): readonly Stretch[] {
  const { code, waitMs } = event;
  const done = ending(stretches, { to: now, ...(code !== undefined && { code }) });
  if (waitMs === undefined) return done;
  const next = now + waitMs;
  return [...done, { kind: "wait", from: now, to: next }, { kind: "attempt", from: next }];
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

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
