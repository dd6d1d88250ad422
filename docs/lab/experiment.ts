// Runs one call with the real client against the real stand-in, in this page or process: no server, no network.
import { type AttemptEvent, type CallOptions, createClient, isStatusError, type StatusError } from "tunerank";
import { createTestService } from "tunerank/testing";
import type { LabOperation } from "./calls.js";
import type { Preset } from "./presets.js";

/** A stretch of a call's time, in milliseconds since its start; without an end it goes on. */
export interface Stretch {
  readonly kind: "attempt" | "wait";
  readonly from: number;
  readonly to?: number;
  /** The code of an attempt that failed. */
  readonly code?: string;
  readonly httpStatus?: number;
}

/** What is known of a call so far. */
export interface Course {
  readonly operation: LabOperation;
  readonly stretches: readonly Stretch[];
  /** How many requests the stand-in has received. */
  readonly requests: number;
  readonly printed: readonly string[];
  readonly state: "running" | "done" | "failed";
  /** Of a call that failed. */
  readonly error?: StatusError;
  /** Of a snippet that is wrong in itself. */
  readonly mistake?: string;
}

/** What is to be tried. */
export interface Experiment {
  readonly operation: LabOperation;
  /** The snippet; it sees `client` and `console`. */
  readonly code: string;
  readonly preset: Preset;
  /** How many requests meet the failure. */
  readonly times: number;
  /** How long the stand-in takes for an answer. */
  readonly answerMs: number;
}

type Snippet = (client: unknown, console: object) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Snippet;

/** Runs an experiment to its end. @param show Called with each thing that happens. */
export async function run(
  experiment: Experiment,
  show: (course: Course) => void = () => {},
): Promise<Course> {
  const { operation, code, preset } = experiment;
  const service = serviceFor(experiment);
  const started = performance.now();
  let course: Course = { operation, stretches: [], requests: 0, printed: [], state: "running" };
  const update = (changes: Partial<Course>): void => {
    course = { ...course, requests: service.requests.length, ...changes };
    show(course);
  };
  const now = (): number => performance.now() - started;
  const onAttempt = (event: AttemptEvent): void =>
    update({ stretches: afterAttempt(course.stretches, event, now()) });
  const console = {
    log: (...values: unknown[]) => update({ printed: [...course.printed, values.map(textOf).join(" ")] }),
  };
  update({ stretches: [{ kind: "attempt", from: 0 }] });
  try {
    const snippet = new AsyncFunction("client", "console", `"use strict";\n${code}`);
    await snippet(clientOf(service.fetch, { onAttempt, ...preset.options }), console);
    update({ state: "done", stretches: closed(course.stretches, now()) });
  } catch (error) {
    const stretches = closed(course.stretches, now());
    if (isStatusError(error)) update({ state: "failed", stretches, error });
    else update({ state: "failed", stretches, mistake: String(error) });
  }
  return course;
}

function serviceFor({
  operation,
  preset,
  times,
  answerMs,
}: Experiment): ReturnType<typeof createTestService> {
  const service = createTestService();
  const { failure } = preset;
  if (failure) service.fail(operation, { ...failure, times, ...(answerMs > 0 && { delayMs: answerMs }) });
  if (answerMs > 0) service.fail(operation, { delayMs: answerMs, times: Number.POSITIVE_INFINITY });
  return service;
}

function clientOf(fetch: ReturnType<typeof createTestService>["fetch"], options: CallOptions): object {
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
  const { code, httpStatus, waitMs } = event;
  const { from } = stretches.at(-1) ?? { from: 0 };
  const attempt: Stretch = {
    kind: "attempt",
    from,
    to: now,
    ...(code !== undefined && { code }),
    ...(httpStatus !== undefined && { httpStatus }),
  };
  const done = [...stretches.slice(0, -1), attempt];
  if (waitMs === undefined) return done;
  const next = now + waitMs;
  return [...done, { kind: "wait", from: now, to: next }, { kind: "attempt", from: next }];
}

function closed(stretches: readonly Stretch[], now: number): readonly Stretch[] {
  return stretches.map((stretch) => (stretch.to === undefined ? { ...stretch, to: now } : stretch));
}

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
