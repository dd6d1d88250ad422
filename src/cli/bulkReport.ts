// What a bulk run counts, and how its progress and its summary are shown.
import type { RerankAllCounts } from "../bulk/index.js";
import { type OutOfFiles, outOfFiles } from "../engine.js";
import { counted, grouped, isSilent, type Terminal, withBar } from "./terminal.js";

const fewerAtOnce: Readonly<Record<OutOfFiles, string>> = {
  EMFILE:
    "This process may open no more files and sockets (EMFILE): fewer requests run at once. Allow more with `ulimit -n`, or use a lower --concurrency.",
  ENFILE:
    "This machine can open no more files and sockets (ENFILE): fewer requests run at once. End other programs, or raise fs.file-max.",
};
const redrawMs = 100;
const noteMs = 10_000;
// The fewest columns of a progress bar that is worth drawing.
const shortestBar = 12;
const mostShown = 50;

/** Counts a run, and shows its progress on stderr: a bar on a terminal, otherwise a line every ten seconds. */
export class Report {
  readonly counts = {
    /** Requests in the input; undefined until a pipe has ended. */
    requests: undefined as number | undefined,
    /** Requests that earlier runs have done, and those among them that have a final error. */
    before: 0,
    finalBefore: 0,
    ranked: 0,
    /** Requests among `ranked` without documents that the service rejected. */
    partly: 0,
    /** Requests with a final error: rejected as invalid, or paid for. */
    final: 0,
    /** Requests that failed, and are sent again by the next run. */
    failed: 0,
    /** Lines that are no requests, or have the id of an earlier line. */
    badLines: 0,
  };
  /** What the run has sent so far; set once it runs. */
  sent: () => Omit<RerankAllCounts, "done"> = () => ({ requests: 0, retries: 0, tokens: 0 });
  readonly #terminal: Terminal;
  readonly #started = performance.now();
  readonly #isDrawn: boolean;
  #shownAt: number;
  #pauseEnd = 0;
  #isLimited = false;
  #errors = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#isDrawn = terminal.errorColumns > 0 && !isSilent(terminal);
    this.#shownAt = this.#isDrawn ? Number.NEGATIVE_INFINITY : this.#started;
  }

  /** How many requests of the input need no other run. */
  get done(): number {
    return this.counts.before + this.counts.ranked + this.counts.final;
  }

  note(note: string): void {
    this.#tell({ note }, note);
  }

  /** Shows a line that is invalid, or whose request failed; after 50, the others are only counted. */
  error(row: object, text: string): void {
    this.#errors += 1;
    if (this.#errors <= mostShown) this.#tell(row, text);
    else if (this.#errors === mostShown + 1)
      this.note("More of these are not shown: they are rows of --output.");
  }

  /** Notes how long the service asks to wait, and says once if this machine can open no more files and sockets. */
  attempted(pauseMs: number, cause: unknown): void {
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
    if (this.#terminal.quiet || now - this.#shownAt < (this.#isDrawn ? redrawMs : noteMs)) return;
    this.#shownAt = now;
    const { requests, final, failed, badLines } = this.counts;
    const { settled, secondsLeft, rate, sent } = this.#figures;
    const all = this.counts.before + settled;
    const facts = [
      requests === undefined ? grouped(all) : `${grouped(all)} of ${grouped(requests)}`,
      `${rate}/s`,
      counted(final + failed + badLines, "error"),
    ];
    const room = this.#isDrawn ? this.#terminal.errorColumns - shortestBar : Number.POSITIVE_INFINITY;
    // The time left cannot be estimated during a pause that the service asked for.
    const end = new Date(this.#pauseEnd);
    if (this.#pauseEnd > Date.now()) facts.push(`the service asks to wait until ${end.toLocaleString("sv")}`);
    else if (secondsLeft !== undefined) facts.push(`${duration(secondsLeft)} left`);
    for (const fact of sent) if ([...facts, fact].join("  ").length <= room) facts.push(fact);
    const line = facts.join("  ");
    if (this.#isDrawn) this.#terminal.redraw(...withBar(requests && all / requests, line, this.#terminal));
    else this.#terminal.tell({ progress: this.#facts }, line);
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
    const { sent, rate } = this.#figures;
    // If no request was sent, a rate would say nothing about how fast the service is.
    if (this.sent().requests > 0) sent.push(`${rate} rows/s`);
    const seconds = (performance.now() - this.#started) / 1000;
    const value = { ...this.#facts, seconds: Math.round(seconds * 1000) / 1000 };
    const text = [`${parts.join(", ")}, in ${seconds.toFixed(1)} s.`, `${sent.join(", ")}.`, ...more];
    this.#terminal.result(more.length > 0 ? { ...value, notes: more } : value, text.join(" "));
  }

  #tell(value: object, line: string): void {
    this.end();
    if (!this.#terminal.quiet) this.#terminal.tell(value, line);
  }

  get #figures() {
    const { requests, before, ranked, final, failed } = this.counts;
    const settled = ranked + final + failed;
    const perSecond = (settled / Math.max(1, performance.now() - this.#started)) * 1000;
    const left = requests === undefined ? undefined : requests - before - settled;
    const { requests: made, retries, tokens } = this.sent();
    const ofThem = retries === 0 ? "" : ` (${grouped(retries)} ${retries === 1 ? "retry" : "retries"})`;
    return {
      ...{ settled, perSecond, rate: perSecond.toFixed(perSecond < 10 ? 1 : 0) },
      // Undefined if it cannot be estimated.
      secondsLeft: left === 0 ? 0 : left && perSecond > 0 ? Math.ceil(left / perSecond) : undefined,
      sent: [`${counted(made, "request")}${ofThem}`, counted(tokens, "token")],
    };
  }

  get #facts(): object {
    const { perSecond, secondsLeft } = this.#figures;
    return { ...this.counts, sent: this.sent(), rowsPerSecond: Math.round(perSecond * 10) / 10, secondsLeft };
  }
}

function duration(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60) % 60, seconds % 60].map((each) =>
    `${each}`.padStart(2, "0"),
  );
  return `${seconds < 3600 ? "" : `${Math.floor(seconds / 3600)}:`}${minutes}:${rest}`;
}
