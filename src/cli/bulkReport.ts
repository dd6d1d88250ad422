// What a bulk run counts, and how its progress and its summary are shown.
import type { RerankAllAttempt, RerankAllCounts } from "../bulk/index.js";
import { type OutOfFiles, outOfFiles } from "../engine.js";
import { counted, grouped, isSilent, type Terminal, withBar } from "./terminal.js";

/** The counts of a bulk run so far. */
export interface Counts {
  /** Requests in the input; undefined if the input is a pipe. */
  requests: number | undefined;
  /** Requests that have a result, or a final error, of an earlier run. */
  before: number;
  /** Requests among `before` with a final error. */
  finalBefore: number;
  ranked: number;
  /** Requests among `ranked` without documents that the service rejected. */
  partly: number;
  /** Requests that failed with a final error: rejected as invalid, or paid for. */
  final: number;
  /** Requests that failed, and are sent again by the next run. */
  failed: number;
  /** Lines that are no requests, or have the id of an earlier line. */
  badLines: number;
}

/** What a run has sent so far. */
export type SentCounts = Omit<RerankAllCounts, "done">;

/** How many requests of the input need no other run. */
export function doneOf({ before, ranked, final }: Counts): number {
  return before + ranked + final;
}

function settled({ ranked, final, failed }: Counts): number {
  return ranked + final + failed;
}

const redrawMs = 100;
const noteMs = 10_000;
// The fewest columns of a progress bar that is worth drawing.
const shortestBar = 12;
const mostShown = 50;

const fewerAtOnce: Readonly<Record<OutOfFiles, string>> = {
  EMFILE:
    "This process may open no more files and sockets (EMFILE): fewer requests run at once. Allow more with `ulimit -n`, or use a lower --concurrency.",
  ENFILE:
    "This machine can open no more files and sockets (ENFILE): fewer requests run at once. End other programs, or raise fs.file-max.",
};

/** Shows the progress of a run on stderr: a bar on a terminal, otherwise a line every ten seconds. */
export class Report {
  readonly counts: Counts = {
    ...{ requests: undefined, before: 0, finalBefore: 0 },
    ...{ ranked: 0, partly: 0, final: 0, failed: 0, badLines: 0 },
  };
  /** What the run has sent so far; set once it runs. */
  sent: () => SentCounts = () => ({ requests: 0, retries: 0, tokens: 0 });
  readonly #terminal: Terminal;
  readonly #started: number = performance.now();
  readonly #isDrawn: boolean;
  #shownAt: number;
  #pauseEnd = 0;
  #isLimited = false;
  #told = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#isDrawn = terminal.errorColumns > 0 && !isSilent(terminal);
    this.#shownAt = this.#isDrawn ? Number.NEGATIVE_INFINITY : this.#started;
  }

  /** Shows a note, on a line of its own. */
  note(note: string): void {
    this.#tell({ note }, note);
  }

  /** Shows a line that is invalid, or whose request failed; after 50, the others are only counted. */
  error(row: object, text: string): void {
    this.#told += 1;
    if (this.#told <= mostShown) this.#tell(row, text);
    else if (this.#told === mostShown + 1)
      this.note("More of these are not shown: they are rows of --output.");
  }

  /** Notes how long the service asks to wait, and says once if this machine can open no more files and sockets. */
  attempted({
    pauseMs = 0,
    cause,
  }: Pick<RerankAllAttempt<unknown>, "cause"> & { readonly pauseMs?: number }): void {
    const code = outOfFiles(cause);
    if (code !== undefined && !this.#isLimited) this.note(fewerAtOnce[code]);
    this.#isLimited ||= code !== undefined;
    const now = Date.now();
    // A pause that begins over ten seconds after the last one ended is shown at once: no request is sent during it.
    if (pauseMs > 0 && now - this.#pauseEnd > noteMs) this.#shownAt = Number.NEGATIVE_INFINITY;
    if (pauseMs > 0) this.#pauseEnd = Math.max(this.#pauseEnd, now + pauseMs);
  }

  /** Shows the progress, at most every 100 ms on a terminal, otherwise every ten seconds. */
  update(): void {
    const now = performance.now();
    const { quiet, errorColumns } = this.#terminal;
    if (quiet || now - this.#shownAt < (this.#isDrawn ? redrawMs : noteMs)) return;
    this.#shownAt = now;
    const { requests, before } = this.counts;
    const facts = this.#progress(this.#isDrawn ? errorColumns - shortestBar : Number.POSITIVE_INFINITY);
    const share = requests ? (before + settled(this.counts)) / requests : undefined;
    if (this.#isDrawn) this.#terminal.redraw(...withBar(share, facts, this.#terminal));
    else this.#terminal.tell({ progress: this.#facts() }, facts);
  }

  end(): void {
    if (this.#isDrawn) this.#terminal.redraw();
  }

  /** Prints the result of the run. @param more Facts that only some runs have */
  summary(more: readonly string[]): void {
    this.end();
    const { before, finalBefore, ranked, partly, final, failed, badLines } = this.counts;
    const without = finalBefore > 0 ? ` (${grouped(finalBefore)} of them with a final error)` : "";
    const parts = [`Ranked ${grouped(ranked)}`, `${grouped(before)} already done${without}`];
    if (partly > 0)
      parts.push(`${grouped(partly)} without documents that the service rejected (\`rejected\`)`);
    if (final > 0) parts.push(`${grouped(final)} with a final error (--retry-final sends them again)`);
    if (failed > 0) parts.push(`${grouped(failed)} failed, which the same command sends again`);
    if (badLines > 0) parts.push(counted(badLines, "invalid line"));
    const seconds = (performance.now() - this.#started) / 1000;
    const facts = this.#sentFacts();
    // If no request was sent, a rate would say nothing about how fast the service is.
    if (this.sent().requests > 0) facts.push(`${this.#rate()} rows/s`);
    const text = [`${parts.join(", ")}, in ${seconds.toFixed(1)} s.`, `${facts.join(", ")}.`, ...more];
    const notes = more.length > 0 ? { notes: more } : {};
    const value = { ...this.#facts(), seconds: Math.round(seconds * 1000) / 1000, ...notes };
    this.#terminal.result(value, text.join(" "));
  }

  #tell(value: object, line: string): void {
    this.end();
    if (!this.#terminal.quiet) this.#terminal.tell(value, line);
  }

  get #perSecond(): number {
    return (settled(this.counts) / Math.max(1, performance.now() - this.#started)) * 1000;
  }

  // Undefined if it cannot be estimated.
  get #secondsLeft(): number | undefined {
    const { requests, before } = this.counts;
    const left = (requests ?? Number.NaN) - before - settled(this.counts);
    return left === 0 ? 0 : left > 0 && this.#perSecond > 0 ? Math.ceil(left / this.#perSecond) : undefined;
  }

  #facts(): object {
    const rowsPerSecond = Math.round(this.#perSecond * 10) / 10;
    return { ...this.counts, sent: this.sent(), rowsPerSecond, secondsLeft: this.#secondsLeft };
  }

  #rate(): string {
    return this.#perSecond.toFixed(this.#perSecond < 10 ? 1 : 0);
  }

  #sentFacts(): string[] {
    const { requests, retries, tokens } = this.sent();
    const ofThem = retries === 0 ? "" : ` (${grouped(retries)} ${retries === 1 ? "retry" : "retries"})`;
    return [`${counted(requests, "request")}${ofThem}`, counted(tokens, "token")];
  }

  // The progress on one line. Facts that do not fit into the columns are left out, the least important first.
  #progress(room: number): string {
    const { requests, before, final, failed, badLines } = this.counts;
    const all = grouped(before + settled(this.counts));
    const facts = [
      requests === undefined ? all : `${all} of ${grouped(requests)}`,
      `${this.#rate()}/s`,
      counted(final + failed + badLines, "error"),
    ];
    const left = this.#secondsLeft;
    // The time left cannot be estimated during a pause that the service asked for.
    if (this.#pauseEnd > Date.now())
      facts.push(`the service asks to wait until ${timeOfDay(this.#pauseEnd)}`);
    else if (left !== undefined) facts.push(`${duration(left)} left`);
    for (const fact of this.#sentFacts()) if ([...facts, fact].join("  ").length <= room) facts.push(fact);
    return facts.join("  ");
  }
}

// A time in local time, with the date if that is not today's.
function timeOfDay(ms: number): string {
  const at = new Date(Math.ceil(ms / 1000) * 1000);
  const time = at.toTimeString().slice(0, 8);
  return at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString("sv")} ${time}`;
}

function duration(seconds: number): string {
  const rest = `${String(Math.floor(seconds / 60) % 60).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
  return seconds < 3600 ? rest : `${Math.floor(seconds / 3600)}:${rest}`;
}
