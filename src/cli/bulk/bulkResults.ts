// What comes of a bulk run's requests: rows in files, and what people are told.
import type { RerankAllAttempt, RerankAllResult } from "../../bulk/index.js";
import { type OutOfFiles, outOfFiles, rankingError } from "../../engine.js";
import type { StatusError } from "../../index.js";
import type { RowWriter } from "../checkpoints/rowWriter.js";
import { isSilent, oneLine, type Terminal, withBar } from "../terminal.js";
import type { BadLine, BulkRequest } from "./bulkRequest.js";

const redrawMs = 100;
const noteMs = 10_000;
const mostNoted = 50;

const fewerAtOnce: Readonly<Record<OutOfFiles, string>> = {
  EMFILE:
    "This process may open no more files and sockets (EMFILE): fewer requests run at once. Allow more with `ulimit -n`, or use a lower --concurrency.",
  ENFILE:
    "This machine can open no more files and sockets (ENFILE): fewer requests run at once. End other programs, or raise fs.file-max.",
};

/** What a run has come to. */
export interface Counts {
  /** Requests there are, where the input is a file. */
  requests: number | undefined;
  /** Done by earlier runs. */
  before: number;
  /** Those of them that are wrong. */
  wrongBefore: number;
  ranked: number;
  /** Requests that are wrong; those of earlier runs are among `before`. */
  wrong: number;
  /** Requests that ran, and so were paid for, without a result: they do not run again by themselves. */
  paid: number;
  /** Requests that failed and run again on the next start. */
  failed: number;
  /** Lines that are no requests. */
  badLines: number;
}

/** Tells people how far a run is: a bar on a terminal, a line every ten seconds elsewhere. */
export class Report {
  readonly counts: Counts;
  readonly #terminal: Terminal;
  readonly #started: number = performance.now();
  readonly #isDrawn: boolean;
  #shownAt: number;
  #noted = 0;
  #holdEnd = 0;
  #isLimited = false;

  constructor(terminal: Terminal, counts: Counts) {
    this.#terminal = terminal;
    this.counts = counts;
    this.#isDrawn = terminal.errorColumns > 0 && !isSilent(terminal);
    this.#shownAt = this.#isDrawn ? Number.NEGATIVE_INFINITY : this.#started;
  }

  /** Tells of a field that lines have themselves, and that is used instead of an option. @param lines How many, or which */
  overruled(field: string, lines: number | { readonly first: number }): void {
    if (this.#terminal.quiet) return;
    const option = `--${field.replace("_", "-")}`;
    const they =
      typeof lines !== "number"
        ? `Line ${lines.first} has its`
        : lines === 1
          ? "1 line has its"
          : `${lines} lines have their`;
    const note = `${they} own ${field}, which is used instead of ${option}; --ignore-fields ${field} uses ${option} for all.`;
    this.end();
    this.#terminal.tell({ note }, note);
  }

  /** Tells of something that is wrong; the first of many only. */
  note(line: string): void {
    this.#noted += 1;
    if (this.#noted > mostNoted) return;
    this.#print(line);
    if (this.#noted === mostNoted) this.#terminal.note("More of these are not shown.");
  }

  /** Tells of requests that earlier runs paid for in vain. */
  paidBefore(count: number): void {
    const were = count === 1 ? "request was" : "requests were";
    if (count > 0)
      this.#print(
        `${count} ${were} paid for without a result by an earlier run. --resend-paid sends ${count === 1 ? "it" : "them"} again.`,
      );
  }

  /** Notes for how long the service asks to wait, and whether this machine can make no more requests at once. */
  attempted({ holdMs = 0, cause }: Pick<RerankAllAttempt<unknown>, "holdMs" | "cause">): void {
    const code = outOfFiles(cause);
    if (code !== undefined && !this.#isLimited) this.#print(fewerAtOnce[code]);
    this.#isLimited ||= code !== undefined;
    const now = Date.now();
    // The first of several, which may be the only one for an hour, is shown at once.
    if (holdMs > 0 && now - this.#holdEnd > noteMs) this.#shownAt = Number.NEGATIVE_INFINITY;
    if (holdMs > 0) this.#holdEnd = Math.max(this.#holdEnd, now + holdMs);
  }

  /** Shows the counts, not too often. */
  update(): void {
    const now = performance.now();
    if (isSilent(this.#terminal) || now - this.#shownAt < (this.#isDrawn ? redrawMs : noteMs)) return;
    this.#shownAt = now;
    const facts = factsOf(this.counts, now - this.#started, this.#holdEnd);
    const { requests, before } = this.counts;
    const share = requests ? (before + settled(this.counts)) / requests : undefined;
    if (this.#isDrawn) this.#terminal.redraw(withBar(share, facts, this.#terminal));
    else this.#terminal.note(facts);
  }

  end(): void {
    if (this.#isDrawn) this.#terminal.redraw("");
  }

  #print(line: string): void {
    this.end();
    this.#terminal.note(oneLine(line));
  }
}

function settled({ ranked, wrong, paid, failed }: Counts): number {
  return ranked + wrong + paid + failed;
}

function factsOf(counts: Counts, ms: number, holdEnd: number): string {
  const { requests, before, wrong, paid, failed, badLines } = counts;
  const rate = settled(counts) / Math.max(1, ms);
  const all = before + settled(counts);
  const errors = wrong + paid + failed + badLines;
  const figures = [
    requests === undefined ? `${all}` : `${all} of ${requests}`,
    `${(rate * 1000).toFixed(rate < 0.01 ? 1 : 0)}/s`,
    `${errors} error${errors === 1 ? "" : "s"}`,
  ];
  // The time left is not known as long as the service sets it.
  if (holdEnd > Date.now()) figures.push(`the service asks to wait until ${timeOfDay(holdEnd)}`);
  else if (requests !== undefined && rate > 0) figures.push(`${duration((requests - all) / rate)} left`);
  return figures.join("  ");
}

// In local time, with the date when it is another day.
function timeOfDay(ms: number): string {
  const at = new Date(Math.ceil(ms / 1000) * 1000);
  const time = at.toTimeString().slice(0, 8);
  if (at.toDateString() === new Date().toDateString()) return time;
  const [month, day] = [at.getMonth() + 1, at.getDate()].map((part) => `${part}`.padStart(2, "0"));
  return `${at.getFullYear()}-${month}-${day} ${time}`;
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const rest = `${String(Math.floor(seconds / 60) % 60).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
  return seconds < 3600 ? rest : `${Math.floor(seconds / 3600)}:${rest}`;
}

export function printSummary(terminal: Terminal, counts: Counts, seconds: number): void {
  const { before, wrongBefore, ranked, wrong, paid, failed, badLines } = counts;
  const ofThem = wrongBefore > 0 ? ` (${wrongBefore} of them wrong)` : "";
  const parts = [`Ranked ${ranked}`, `${before} done before${ofThem}`];
  if (wrong > 0) parts.push(`${wrong} wrong`);
  if (paid > 0)
    parts.push(`${paid} paid for without a result (--resend-paid sends ${paid === 1 ? "it" : "them"} again)`);
  if (failed > 0) parts.push(`${failed} failed and will run again on the next start`);
  if (badLines > 0) parts.push(`${badLines} line${badLines === 1 ? "" : "s"} not read`);
  const value = { ...counts, seconds: Math.round(seconds * 1000) / 1000 };
  terminal.result(value, `${parts.join(", ")}, in ${seconds.toFixed(1)} s.`);
}

export interface OutputFiles {
  readonly output: RowWriter;
  readonly errors: RowWriter | undefined;
}

const unwritable = "The response cannot be written as a row: it is nested too deeply, or too long.";

/** Writes the row of a result, and counts it. @returns why there is no ranking, where the request itself is not wrong */
export function addResult(
  { id: request, response, error }: RerankAllResult<BulkRequest>,
  files: OutputFiles,
  report: Report,
): StatusError | undefined {
  if (error !== undefined) return addError(request, error, files, report);
  const { id, fingerprint } = request;
  try {
    files.output.add({ id, fingerprint, response });
    report.counts.ranked += 1;
    return undefined;
  } catch (cause) {
    // What JSON.stringify throws of what it cannot write; what a disk says is no RangeError.
    if (cause instanceof RangeError)
      return addError(request, rankingError(unwritable, { cause }), files, report);
    throw cause;
  }
}

function addError(
  { id, fingerprint, line }: BulkRequest,
  error: StatusError,
  files: OutputFiles,
  report: Report,
): StatusError | undefined {
  const isPaid = error.executed === "yes";
  const isWrong = saysWrong(error) && !isPaid;
  // What was never sent may be the command's fault, and is found again for nothing.
  const isUnsent = error.codeSource === "client" && error.attempts.length === 0;
  const final = isPaid || (isWrong && !isUnsent);
  const row = { id, fingerprint, error: errorFields(error), final, ...(files.errors && { line }) };
  // Without a file for errors, the output has those that do not run again.
  if (files.errors) files.errors.add(row);
  else if (final) files.output.add(row);
  report.counts[isPaid ? "paid" : isWrong ? "wrong" : "failed"] += 1;
  if (files.errors === undefined) report.note(`Line ${line}: ${error.message}`);
  return isWrong ? undefined : error;
}

export function addBadLine({ line, problem }: BadLine, files: OutputFiles, report: Report): void {
  report.counts.badLines += 1;
  report.note(`Line ${line} is left out. ${problem}`);
  files.errors?.add({ line, error: { code: "INVALID_ARGUMENT", message: problem } });
}

/** Writes the row of a request whose id was there before, in a pipe. */
export function addDuplicate(request: BulkRequest, files: OutputFiles, report: Report): void {
  const { id, fingerprint, line } = request;
  report.counts.wrong += 1;
  const message = "An earlier line has this id.";
  report.note(`Line ${line} is left out. ${message}`);
  const error = { code: "INVALID_ARGUMENT", message, executed: "no" };
  (files.errors ?? files.output).add({ id, fingerprint, error, final: true, line });
}

/**
 * Whether an error is a request's last word: the request itself is wrong, and wrong it stays. All but what was paid for runs again
 * on the next start: what was transient, and what is not the request's fault, such as an account's state or a web page in
 * the place of an answer.
 */
function saysWrong({ code, codeSource }: StatusError): boolean {
  if (code === "INVALID_ARGUMENT" || code === "OUT_OF_RANGE") return true;
  // Without a name in its body, a 404 may be that of a wrong address.
  return code === "NOT_FOUND" && codeSource === "body";
}

/** What a file keeps of an error. */
export function errorFields(error: StatusError): Record<string, unknown> {
  const { code, message, executed, httpStatus, requestId, attempts } = error;
  return { code, message, executed, httpStatus, requestId, attempts: attempts.length };
}
