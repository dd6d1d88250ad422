// One run, from the first row to the last word of the client.
import type { Cell } from "./cells.js";
import { listenForRows } from "./control.js";
import { createSession, type RowResult } from "./session.js";

/** What a run is made of. */
export interface RunOptions {
  readonly cells: readonly Cell[];
  readonly port: number;
  /** How long the client may say nothing. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onListening: (url: string) => void;
  readonly onResult: (result: RowResult) => void;
  /** Told of each thing that a client did wrong. */
  readonly onRefusal: (why: string) => void;
}

/** What came of a run. */
export interface RunResult {
  readonly results: readonly RowResult[];
  /** Why it ended before its end. */
  readonly cut: string | undefined;
}

// Clients with several workers ask once more each.
const lingerMs = 300;

/** Serves the rows until the client has posted the outcome of each, or says nothing any more. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { cells, port, timeoutMs, signal, onListening, onResult, onRefusal } = options;
  const clock = createClock(timeoutMs);
  const session = createSession(cells, clock.heard);
  const heard = (): void => {
    if (session.over) clock.endIn(lingerMs);
    else clock.heard();
  };
  const listener = { heard, ended: onResult, refused: onRefusal };
  const control = await listenForRows(port, session, listener).catch((error: unknown) => {
    clock.endIn(0);
    throw error;
  });
  const abort = (): void => clock.endIn(0);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  onListening(control.url);
  await clock.ended;
  signal.removeEventListener("abort", abort);
  const cut = session.over ? undefined : reasonOf(session.underWay, options);
  await session.close("no outcome was posted");
  await control.close();
  return { results: session.results, cut };
}

function reasonOf(underWay: readonly string[], { timeoutMs, signal }: RunOptions): string {
  if (signal.aborted) return "The run was ended before its end.";
  const silence = `The client has said nothing for ${timeoutMs / 1000} s`;
  return underWay.length === 0
    ? `${silence} and asks for no row.`
    : `${silence}; no outcome was posted of ${underWay.join(", ")}.`;
}

interface RunnerClock {
  readonly ended: Promise<void>;
  /** Begins the time again. */
  readonly heard: () => void;
  readonly endIn: (ms: number) => void;
}

function createClock(timeoutMs: number): RunnerClock {
  let timer: NodeJS.Timeout;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const endIn = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(end, ms);
  };
  timer = setTimeout(end, timeoutMs);
  return { ended, heard: () => endIn(timeoutMs), endIn };
}
