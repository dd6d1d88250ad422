// What a bulk run counts, and how its progress and its summary are shown.
import type { RerankAllCounts } from "../bulk/index.js";
import { outOfFiles } from "../engine.js";
import { counted, grouped, Progress } from "./terminal.js";

const mostShown = 50;

export class Report extends Progress {
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
    /** Rows that could not be written, results that another run paid for too, and requests that had no response. */
    unwritten: 0,
    twice: 0,
    lost: 0,
  };
  sent: () => Omit<RerankAllCounts, "done"> = () => ({ requests: 0, retries: 0, tokens: 0 });
  readonly #started = performance.now();
  #pauseEnd = 0;
  #isLimited = false;
  #errors = 0;

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

  /** Notes each pause that the service asks for, and once if this machine can open no more files and sockets. */
  attempted(pauseMs: number, cause: unknown): void {
    const code = outOfFiles(cause);
    if (code !== undefined && !this.#isLimited)
      this.note(
        `No more files and sockets can be opened (${code}): fewer requests run at once. See \`ulimit -n\`, or use a lower --concurrency.`,
      );
    this.#isLimited ||= code !== undefined;
    const end = Date.now() + pauseMs;
    if (pauseMs > 0 && this.#pauseEnd < Date.now())
      this.note(`The service asks to wait until ${new Date(end).toLocaleString("sv")}.`);
    if (pauseMs > 0) this.#pauseEnd = Math.max(this.#pauseEnd, end);
  }

  update(): void {
    if (!this.isDue) return;
    const { requests, before, final, failed, badLines } = this.counts;
    const { settled, rate } = this.#figures;
    const all = before + settled;
    const facts = [
      requests === undefined ? grouped(all) : `${grouped(all)} of ${grouped(requests)}`,
      `${rate}/s`,
      counted(final + failed + badLines, "error"),
    ];
    this.show(requests && all / requests, facts.join("  "), this.#facts);
  }

  summary(): void {
    this.end();
    const { before, finalBefore, ranked, partly, final, failed, badLines } = this.counts;
    const without = finalBefore > 0 ? ` (${grouped(finalBefore)} of them with a final error)` : "";
    const { sent, rate } = this.#figures;
    const some = (count: number, text: string): string[] => (count > 0 ? [text] : []);
    const parts = [
      `Ranked ${grouped(ranked)}`,
      `${grouped(before)} already done${without}`,
      ...some(partly, `${grouped(partly)} without documents that the service rejected (\`rejected\`)`),
      ...some(final, `${grouped(final)} with a final error (--retry-final sends them again)`),
      ...some(failed, `${grouped(failed)} failed, which the same command sends again`),
      ...some(badLines, counted(badLines, "invalid line")),
    ];
    // If no request was sent, a rate would say nothing about how fast the service is.
    sent.push(...some(this.sent().requests, `${rate} rows/s`));
    const { unwritten, twice, lost } = this.counts;
    const notes = [
      ...some(unwritten, `${counted(unwritten, "row")} could not be written: what they hold is lost.`),
      ...some(twice, `${counted(twice, "request")} ranked twice, by two runs at one time.`),
      ...some(lost, `${counted(lost, "request")} in flight had no response in 8 s, and may be paid for.`),
    ];
    const seconds = (performance.now() - this.#started) / 1000;
    const text = [`${parts.join(", ")}, in ${seconds.toFixed(1)} s.`, `${sent.join(", ")}.`, ...notes];
    this.terminal.result({ ...this.#facts, seconds: Math.round(seconds * 1000) / 1000 }, text.join(" "));
  }

  #tell(value: object, line: string): void {
    this.end();
    if (!this.terminal.quiet) this.terminal.tell(value, line);
  }

  get #figures() {
    const { ranked, final, failed } = this.counts;
    const settled = ranked + final + failed;
    const perSecond = (settled / Math.max(1, performance.now() - this.#started)) * 1000;
    const { requests: made, retries, tokens } = this.sent();
    const ofThem = retries === 0 ? "" : ` (${grouped(retries)} ${retries === 1 ? "retry" : "retries"})`;
    const sent = [`${counted(made, "request")}${ofThem}`, counted(tokens, "token")];
    return { settled, perSecond, rate: perSecond.toFixed(perSecond < 10 ? 1 : 0), sent };
  }

  get #facts(): object {
    const rowsPerSecond = Math.round(this.#figures.perSecond * 10) / 10;
    return { ...this.counts, sent: this.sent(), rowsPerSecond };
  }
}
