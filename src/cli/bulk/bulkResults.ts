// The results of a bulk run: its rows (JSON lines in the output and errors files), its counts and its messages.
import type { RerankAllAttempt, RerankAllResult } from "../../bulk/index.js";
import { type OutOfFiles, outOfFiles, rankingError } from "../../engine.js";
import type { RerankResponse, StatusError } from "../../index.js";
import type { Row } from "../checkpoints/readRows.js";
import type { RowSink } from "../checkpoints/rowWriter.js";
import { type BadLine, InvalidLines } from "../input/invalidLines.js";
import { messageOf } from "../reportFailure.js";
import { counted, isSilent, named, type Terminal, Unwritable, withBar } from "../terminal.js";
import { type BulkRequest, nearField } from "./bulkRequest.js";
import type { RequestRow } from "./equalRequests.js";
import {
  type Counts,
  type Figures,
  figuresJson,
  progressText,
  type SentCounts,
  sentText,
  settled,
} from "./figures.js";

const redrawMs = 100;
// The fewest columns of a progress bar that is worth drawing.
const shortestBar = 12;
const noteMs = 10_000;

const fewerAtOnce: Readonly<Record<OutOfFiles, string>> = {
  EMFILE:
    "This process may open no more files and sockets (EMFILE): fewer requests run at once. Allow more with `ulimit -n`, or use a lower --concurrency.",
  ENFILE:
    "This machine can open no more files and sockets (ENFILE): fewer requests run at once. End other programs, or raise fs.file-max.",
};

/** Shows the progress of a run on stderr: a bar on a terminal, otherwise a line every ten seconds. */
export class Report {
  readonly counts: Counts;
  /** What the run has sent so far; set once it runs. */
  sent: () => SentCounts = () => ({ requests: 0, retries: 0, tokens: 0 });
  readonly #terminal: Terminal;
  readonly #started: number = performance.now();
  readonly #isDrawn: boolean;
  readonly #invalid: InvalidLines;
  #shownAt: number;
  #holdEnd = 0;
  #isLimited = false;

  constructor(terminal: Terminal, counts: Counts) {
    this.#terminal = terminal;
    this.counts = counts;
    this.#invalid = new InvalidLines((value, line) => {
      this.end();
      terminal.tell(value, line);
    });
    this.#isDrawn = terminal.errorColumns > 0 && !isSilent(terminal);
    this.#shownAt = this.#isDrawn ? Number.NEGATIVE_INFINITY : this.#started;
  }

  /**
   * Prints that lines have their own value of a field, which is used instead of the command line's option.
   * @param lines How many lines, or the number of the first such line
   */
  overruled(field: string, lines: number | { readonly first: number }): void {
    if (this.#terminal.quiet) return;
    const option = `--${field.replace("_", "-")}`;
    const its = typeof lines === "number" && lines !== 1 ? "their" : "its";
    this.tell(
      `${linesHave(lines)} ${its} own ${field}, which is used instead of ${option}; --ignore-fields ${field} uses ${option} for all.`,
    );
  }

  /**
   * Prints that lines have a field that is not sent, and which request field it may mean.
   * @param lines How many lines, or the number of the first such line
   */
  nearlySent(name: string, lines: number | { readonly first: number }): void {
    if (this.#terminal.quiet) return;
    this.tell(`${linesHave(lines)} ${named(name)}, which is not sent: did you mean ${nearField(name)}?`);
  }

  /** Prints the fault of an input whose lines are all invalid, unless earlier runs finished some of its requests. */
  allInvalid(fault: string | undefined): void {
    if (fault !== undefined && this.counts.before === 0) this.tell(`${fault} Nothing was sent.`);
  }

  /** Reports an invalid request: as `row` with --json, else as text. */
  wrong(row: object, text: string): void {
    this.#invalid.report(row, text);
    this.counts.notShown = this.#invalid.notShown;
  }

  /** Reports a line that is no request. */
  badLine(bad: BadLine): object {
    const row = this.#invalid.add(bad);
    this.counts.badLines += 1;
    this.counts.notShown = this.#invalid.notShown;
    return row;
  }

  /** Prints how many requests earlier runs paid for without a usable result. */
  paidBefore(): void {
    const count = this.counts.paidBefore;
    const were = count === 1 ? "request was" : "requests were";
    if (count > 0)
      this.tell(
        `${count} ${were} paid for without a result by an earlier run. --resend-paid sends ${count === 1 ? "it" : "them"} again.`,
      );
  }

  /** Records how long the service asks to wait, and prints once if this machine can open no more files and sockets. */
  attempted({ holdMs = 0, cause }: Pick<RerankAllAttempt<unknown>, "holdMs" | "cause">): void {
    const code = outOfFiles(cause);
    if (code !== undefined && !this.#isLimited) this.tell(fewerAtOnce[code]);
    this.#isLimited ||= code !== undefined;
    const now = Date.now();
    // A pause that begins over ten seconds after the last one ended is shown at once: no request is sent during it.
    if (holdMs > 0 && now - this.#holdEnd > noteMs) this.#shownAt = Number.NEGATIVE_INFINITY;
    if (holdMs > 0) this.#holdEnd = Math.max(this.#holdEnd, now + holdMs);
  }

  /** Shows the progress, at most every 100 ms on a terminal, otherwise every ten seconds. */
  update(): void {
    const now = performance.now();
    const { quiet, errorColumns } = this.#terminal;
    if (quiet || now - this.#shownAt < (this.#isDrawn ? redrawMs : noteMs)) return;
    this.#shownAt = now;
    const { figures } = this;
    const room = this.#isDrawn ? errorColumns - shortestBar : Number.POSITIVE_INFINITY;
    const facts = progressText(figures, this.#holdEnd, room);
    const { requests, before } = this.counts;
    const share = requests ? (before + settled(this.counts)) / requests : undefined;
    if (this.#isDrawn) this.#terminal.redraw(withBar(share, facts, this.#terminal));
    else this.#terminal.tell({ progress: { ...this.counts, ...figuresJson(figures) } }, facts);
  }

  get figures(): Figures {
    return { counts: this.counts, sent: this.sent(), ms: performance.now() - this.#started };
  }

  end(): void {
    if (this.#isDrawn) this.#terminal.redraw("");
  }

  /** Shows a note, on a line of its own. */
  tell(note: string): void {
    this.end();
    this.#terminal.tell({ note }, note);
  }
}

function linesHave(lines: number | { readonly first: number }): string {
  if (typeof lines !== "number") return `Line ${lines.first} has`;
  return lines === 1 ? "1 line has" : `${lines} lines have`;
}

const whereAll = {
  errors: "all of them are in --errors",
  nowhere: "with --errors FILE, all of them are in that file",
} as const;

/** Prints the result of a run. @param kept Where all errors of the run can be read */
export function printSummary(
  terminal: Terminal,
  { counts, figures }: Report,
  seconds: number,
  kept: keyof typeof whereAll,
): void {
  const { notShown } = counts;
  const { before, wrongBefore, paidBefore, ranked, same, wrong, paid, failed, badLines } = counts;
  const without = wrongBefore + paidBefore;
  const ofThem = without > 0 ? ` (${without} of them without a result)` : "";
  const parts = [`Ranked ${ranked}${rankedNotes(counts)}`, `${before} already done${ofThem}`];
  if (wrong > 0) parts.push(`${wrong} invalid`);
  if (paid > 0) parts.push(paidText(counts));
  if (failed > 0) parts.push(`${failed} failed and will run again on the next start`);
  if (badLines > 0) parts.push(`${counted(badLines, "skipped line")}`);
  const value = { ...counts, ...figuresJson(figures), seconds: Math.round(seconds * 1000) / 1000 };
  const rest =
    notShown > 0 ? ` ${notShown} ${notShown === 1 ? "was" : "were"} not shown: ${whereAll[kept]}.` : "";
  const asking =
    same > 0
      ? ` ${same} ${same === 1 ? "line asks" : "lines ask"} the same as another; --dedupe sends each once.`
      : "";
  terminal.result(
    value,
    `${parts.join(", ")}, in ${seconds.toFixed(1)} s. ${sentText(figures)}${rest}${asking}`,
  );
}

function paidText({ paid, paidCopied }: Counts): string {
  const shared = paidCopied > 0 ? `, ${paidCopied} with the error of such a line that asks the same` : "";
  const them = paid === 1 ? "it" : "them";
  return `${paid - paidCopied} paid for without a result${shared} (--resend-paid sends ${them} again)`;
}

function rankedNotes({ partly, copied }: Counts): string {
  const notes: string[] = [];
  if (copied > 0) notes.push(`${copied} of them as another line that asks the same`);
  const its = partly === 1 ? "its row" : "their rows";
  if (partly > 0) notes.push(`${partly} without documents that the service rejected: \`rejected\` in ${its}`);
  return notes.length > 0 ? ` (${notes.join("; ")})` : "";
}

export interface OutputFiles {
  readonly output: RowSink;
  readonly errors: RowSink | undefined;
  /** The ids, as JSON, whose error row of an earlier run has been replaced by a row of this run. */
  readonly replaced: Set<string>;
}

// The command's name, by which messages choose the options that they advise.
const bulk = "rerank --bulk";

/** Writes the row of a result, and counts it. @returns The error, unless the request succeeded or is itself invalid */
export function addResult(
  { id: request, response, rejected, error }: RerankAllResult<RequestRow>,
  files: OutputFiles,
  report: Report,
): StatusError | undefined {
  if (error !== undefined) return addError(request, error, files, report);
  try {
    const left = rejected?.map(({ index, error }) => ({ index, error: errorFields(error, bulk) }));
    addRanking(request, { response, rejected: left }, files, report);
    return undefined;
  } catch (cause) {
    if (!(cause instanceof Unwritable)) throw cause;
    return addError(request, rankingError(cause.message, { cause }), files, report);
  }
}

/** Writes the row of a request that was not sent, with the result of another request that asked the same. */
export function addShared(result: RerankAllResult<RequestRow>, files: OutputFiles, report: Report): void {
  const { counts } = report;
  const { ranked, paid } = counts;
  addResult(result, files, report);
  counts.copied += counts.ranked - ranked;
  counts.paidCopied += counts.paid - paid;
}

/** Writes the row of a ranking, and counts it. */
function addRanking(
  { id, fingerprint, documentIds, resent }: RequestRow,
  { response, rejected }: Pick<Row, "response" | "rejected">,
  { output, replaced }: OutputFiles,
  { counts }: Report,
): void {
  const { data } = response as RerankResponse;
  // A ranking names documents only by their positions. `document_ids` has their ids, in the order of the ranking.
  const ids = documentIds && { document_ids: data.map(({ index }) => documentIds[index]) };
  output.add({ id, fingerprint, ...ids, response, ...(rejected === undefined ? {} : { rejected }) });
  if (resent !== undefined) replaced.add(JSON.stringify(id));
  counts.ranked += 1;
  if (rejected !== undefined) counts.partly += 1;
}

/** Writes the row of a request that asks the same as another request, whose `row` has the ranking. */
export function addCopy(request: RequestRow, row: Row, files: OutputFiles, report: Report): void {
  addRanking(request, row, files, report);
  report.counts.copied += 1;
}

/** Whether a request is not sent again after this error: it was paid for, or the service rejected what is in it. */
export function isFinal(error: StatusError): boolean {
  // A request that the client rejected unsent runs again: an option may be at fault, and the check costs nothing.
  const isUnsent = error.codeSource === "client" && error.attempts.length === 0;
  return error.executed === "yes" || (saysWrong(error) && !isUnsent);
}

function addError(
  { id, fingerprint, line, resent }: RequestRow,
  error: StatusError,
  files: OutputFiles,
  report: Report,
): StatusError | undefined {
  const isPaid = error.executed === "yes";
  const isWrong = saysWrong(error) && !isPaid;
  const final = isFinal(error);
  const fields = isPaid ? paidFields(error) : errorFields(error, bulk);
  const times = isPaid && resent ? { resent } : {};
  const row = { id, fingerprint, error: fields, final, ...times, ...(files.errors && { line }) };
  // Without `--errors`, only the errors of requests that do not run again are written, to the output.
  if (files.errors) files.errors.add(row);
  else if (final) files.output.add(row);
  if (final && resent !== undefined) files.replaced.add(JSON.stringify(id));
  report.counts[isPaid ? "paid" : isWrong ? "wrong" : "failed"] += 1;
  if (files.errors === undefined)
    report.wrong({ line, id, error: fields }, `Line ${line}: ${fields.message}`);
  return isWrong ? undefined : error;
}

export function addBadLine(bad: BadLine, files: OutputFiles, report: Report): void {
  const row = report.badLine(bad);
  files.errors?.add(row);
}

/** Writes an error row for a request from a pipe if an earlier line has the same id. */
export function addDuplicate(request: BulkRequest, files: OutputFiles, report: Report): void {
  const { id, fingerprint, line } = request;
  report.counts.wrong += 1;
  const message = "An earlier line has this id.";
  const error = { code: "INVALID_ARGUMENT", message, executed: "no" };
  report.wrong({ line, id, error }, `Line ${line} is skipped. ${message}`);
  (files.errors ?? files.output).add({ id, fingerprint, error, final: true, line });
}

/**
 * Whether an error means that the request itself is invalid, and stays invalid. Any other error is transient, or is not
 * the request's fault, such as an account's state or a web page in place of a response: then the request runs again on
 * the next start, unless it was paid for.
 */
function saysWrong({ code, codeSource }: StatusError): boolean {
  if (code === "INVALID_ARGUMENT" || code === "OUT_OF_RANGE") return true;
  // A 404 without an error code in its body does not count: the service's address may be wrong, not the request.
  return code === "NOT_FOUND" && codeSource === "body";
}

// The message says that the request ran, because the last attempt's error may not. `attempts` is left out if it is not
// known: the error of a ranking that cannot be written as a row has none.
function paidFields(error: StatusError): Record<string, unknown> {
  const { attempts, message, ...fields } = errorFields(error, bulk);
  const paid = `${message} The request ran, and was paid for: only --resend-paid sends it again.`;
  return { ...fields, message: paid, ...(attempts === 0 ? {} : { attempts }) };
}

/** The fields of an error that its row in a file keeps. @param command The command that was run */
export function errorFields(error: StatusError, command: string): Record<string, unknown> {
  const { code, executed, httpStatus, requestId, attempts } = error;
  return {
    code,
    message: messageOf(error, command),
    executed,
    httpStatus,
    requestId,
    attempts: attempts.length,
  };
}
