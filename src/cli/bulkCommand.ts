// `tunerank bulk FILE --output OUT`: ranks the requests of a file, and continues after any interruption.
import { type RerankAllError, type RerankAllResult, rerankAll } from "../bulk/index.js";
import { mostAtOnce, rankingError, stopSending } from "../engine.js";
import { type Client, isStatusError, type StatusError } from "../index.js";
import { type BadLine, type BulkRequest, formatOf, type LineFormat, readLine } from "./bulkLines.js";
import { Report } from "./bulkReport.js";
import { Checkpoint } from "./checkpoint.js";
import { type Context, namingFile, Reported, RunEnded, UsageError } from "./context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exitCodes.js";
import { type IdHash, IdTable, printOf } from "./ids.js";
import { Input, isObject, type Line, realName } from "./input.js";
import { errorFields } from "./reportFailure.js";
import { type LineRow, type Row, type Strength, strengths } from "./rows.js";
import { counted, grouped, Unwritable } from "./terminal.js";
import { withClient } from "./withClient.js";

type Texts = "output" | "shard" | "idField" | "queryField" | "documentsField" | "model" | "task";
type Numbers =
  | "topN"
  | "batchSize"
  | "rate"
  | "tokensPerMinute"
  | "maxRequests"
  | "maxTokens"
  | "totalTimeout";
type Flags = "update" | "retryFinal" | "strict" | "allowEmpty";

/** The options of `bulk`. Times are in seconds, rates per minute. */
export type BulkOptions = Partial<Record<Texts, string> & Record<Numbers | "maxPause", number>> &
  Partial<Record<Flags, boolean>> & { readonly concurrency?: number | "auto" };

const shownIds = 3;

/** Runs `tunerank bulk FILE --output OUT`. */
export async function run(context: Context<BulkOptions>): Promise<void> {
  const { args, options, dryRun } = context;
  const [file = "-"] = args;
  const { output, strict } = options;
  const name = namingFile("FILE", file);
  if (output === undefined || output === "-")
    throw new UsageError("--output FILE is missing: results are written there, and a run continues from it.");
  if (file === "-" && process.stdin.isTTY)
    throw new UsageError("FILE is missing: name a file, or send requests to the standard input.");
  if (file !== "-" && realName(file, "FILE") === realName(output, "--output"))
    throw new UsageError("FILE and --output must be different files.");
  const format = formatOf(options);
  const stop = context.grace();
  const input = await Input.open(file, name, "JSON lines", context.signal);
  try {
    if (strict && input.isPipe)
      throw new UsageError(
        "--strict reads all of FILE before it sends anything: a pipe cannot be read twice.",
      );
    const source = { path: output, option: "--output", strengthOf };
    const checkpoint = await Checkpoint.open(source, dryRun !== undefined, context.signal);
    await new BulkRun(context, { name, stop, format, input, checkpoint }).run();
  } finally {
    await input.close();
  }
}

/** How strong a row of an output is; undefined for an object that is none. */
function strengthOf({ response, error, final }: Row): Strength | undefined {
  if (isObject(response)) return Array.isArray(response.data) ? strengths.result : undefined;
  if (!isObject(error) || typeof error.code !== "string") return undefined;
  return final === true ? strengths.final : strengths.passing;
}

interface Parts {
  readonly name: string;
  /** Aborts at the first signal: nothing more is to be sent. */
  readonly stop: AbortSignal;
  readonly format: LineFormat;
  readonly input: Input;
  readonly checkpoint: Checkpoint;
}

class BulkRun {
  readonly #context: Context<BulkOptions>;
  readonly #parts: Parts;
  readonly #report: Report;
  /** The fingerprints of the input's requests, by their ids. */
  readonly #asked = new IdTable();
  /** The hashes of ids that two lines may have, and the ids of lines that were read and have one of them. */
  readonly #twice = new Set<string>();
  readonly #read = new Set<string>();
  #isFirst = true;
  #attempts = 0;
  #lost = 0;
  #failed: StatusError | undefined;

  constructor(context: Context<BulkOptions>, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    this.#report = new Report(context.terminal);
  }

  async run(): Promise<void> {
    const { checkpoint, input, name } = this.#parts;
    const { options, dryRun } = this.#context;
    const { counts } = this.#report;
    let ended: unknown;
    try {
      if (!input.isPipe) await this.#plan();
      const { size, skipped } = checkpoint.known;
      const others = skipped > 0 ? ` ${counted(skipped, "line")} there cannot be read.` : "";
      if (size > 0) this.#report.note(`${counted(size, "row")} found in --output and its parts.${others}`);
      const wanted = Number(options.concurrency);
      const sockets = Number.isInteger(wanted) ? Math.max(mostAtOnce, wanted) : mostAtOnce;
      await withClient(this.#context, "rerankDocuments", (client) => this.#rank(client), sockets);
      if (this.#isFirst && !options.allowEmpty)
        throw new UsageError(`${name} is empty: nothing was sent. If it may be empty, add --allow-empty.`);
    } catch (error) {
      ended = error;
    }
    this.#report.end();
    if (ended instanceof UsageError || (isStatusError(ended) && exitCodeOfError(ended) === exitCodes.usage)) {
      checkpoint.close();
      throw ended;
    }
    const left = counts.ranked + counts.final + counts.failed;
    const all = counts.requests ?? counts.before + left;
    const line = `${counted(all, "request")} in the input: ${grouped(counts.before)} already done, ${grouped(left)} to do.`;
    dryRun?.tell({ bulk: { ...counts, requests: all, left } }, [line]);
    const isComplete = counts.before + counts.ranked - counts.finalBefore === counts.requests;
    const merged = await checkpoint.end(this.#asked, isComplete).catch((error: unknown) => ({ error }));
    const { unwritten = 0, twice = 0 } = "error" in merged ? {} : merged;
    const note = (count: number, one: string, text: string): string[] =>
      count > 0 ? [`${counted(count, one)} ${text}`] : [];
    this.#report.summary([
      ...note(unwritten, "row", "could not be written: what they hold is lost."),
      ...note(twice, "request", "ranked twice, by two runs at one time."),
      ...note(this.#lost, "request", "in flight had no response in 8 s, and may be paid for."),
    ]);
    if ("error" in merged) throw merged.error;
    if (checkpoint.full.aborted) throw checkpoint.cannotGoOn();
    if (ended !== undefined) throw ended;
    // The exit code also tells of requests that an earlier run ended without a result.
    if (this.#failed !== undefined) throw new Reported(exitCodeOfError(this.#failed));
    if (counts.final + counts.finalBefore + counts.failed + counts.badLines + counts.partly > 0)
      throw new Reported(exitCodeOf.INVALID_ARGUMENT);
  }

  // Reads the whole input before anything is sent: how many requests are done, and which have changed since.
  async #plan(): Promise<void> {
    const { strict, update } = this.#context.options;
    const { counts } = this.#report;
    const changed: string[] = [];
    let invalid = 0;
    counts.requests = 0;
    for await (const lines of this.#parts.input.lines()) {
      for (const line of lines) {
        const read = this.#lineOf(line);
        if (read === undefined) continue;
        if ("problem" in read) {
          invalid += 1;
          if (strict) this.#report.error(badRow(read), `Line ${line.number} is invalid. ${read.problem}`);
        } else if (this.#asked.has(read.hash)) this.#twice.add(textOf(read.hash));
        else {
          counts.requests += 1;
          if (this.#count(read) === "changed" && !update) changed.push(read.key);
        }
      }
    }
    if (strict && invalid > 0)
      throw new UsageError(`${counted(invalid, "invalid line")}: nothing was sent (--strict).`);
    if (changed.length > 0) throw new UsageError(`${changedText(changed)} Nothing was sent.`);
  }

  async #rank(client: Client): Promise<void> {
    const { stop, checkpoint } = this.#parts;
    const { options, signal, dryRun } = this.#context;
    const { batchSize, concurrency, rate, tokensPerMinute, maxRequests, maxTokens } = options;
    const { timeout, totalTimeout, maxPause } = options;
    const ms = (seconds: number | undefined): number | undefined => seconds && seconds * 1000;
    const limits = { rate: { requestsPerMinute: rate, tokensPerMinute }, maxRequests, maxTokens };
    const times = { timeoutMs: ms(timeout), totalTimeoutMs: ms(totalTimeout), maxPauseMs: ms(maxPause) };
    const results = rerankAll(client, this.#requests(), {
      ...{ batchSize, concurrency, signal, sharesService: options.shard !== undefined, ...times },
      // A dry run counts all that there is to send, so the limits on what a run sends do not apply.
      ...(dryRun === undefined && limits),
      onAttempt: (attempt) => {
        this.#attempts += 1;
        this.#report.attempted(attempt.pauseMs ?? 0, attempt.cause);
      },
    });
    this.#report.sent = () => results.counts;
    const onStop = (): void => stopSending(results);
    for (const each of [stop, checkpoint.full]) each.addEventListener("abort", onStop);
    // Requests in flight when the time for them is over may be paid for, and have no row.
    signal.addEventListener("abort", () => {
      this.#lost = results.counts.requests - this.#attempts;
    });
    const timer = setInterval(() => this.#report.update(), 100);
    try {
      for await (const result of results) this.#add(result);
    } catch (error) {
      // If all requests are done, the run ends as usual, even if the last of them reached a limit.
      if (!isStatusError(error) || !this.#isOver) throw this.#endOf(error);
    } finally {
      clearInterval(timer);
    }
    if (stop.aborted && !this.#isOver) throw this.#endOf(undefined);
  }

  get #isOver(): boolean {
    return this.#report.done === this.#report.counts.requests;
  }

  // Yields the requests to send, until the run is stopped.
  async *#requests(): AsyncGenerator<BulkRequest["body"] & { readonly id: BulkRequest }> {
    const { input, stop, checkpoint } = this.#parts;
    const { counts } = this.#report;
    for await (const lines of input.lines()) {
      for (const line of lines) {
        if (stop.aborted || checkpoint.full.aborted) return;
        const read = this.#lineOf(line);
        if (read === undefined) continue;
        const isRequest = !("problem" in read);
        // Of a pipe, all ids are kept; of a file, those whose hash occurs twice.
        const mayBeSecond = isRequest && (input.isPipe || this.#twice.has(textOf(read.hash)));
        if (!isRequest) this.#bad(read);
        else if (mayBeSecond && this.#read.has(read.key))
          this.#bad({ line: line.number, problem: "An earlier line has this id." });
        else {
          if (mayBeSecond) this.#read.add(read.key);
          const state = input.isPipe ? this.#count(read) : this.#stateOf(read);
          if (state === "changed" && !this.#context.options.update) throw new Error(changedText([read.key]));
          if (state !== "done") yield { ...read.body, id: read };
        }
      }
    }
    // Only at its end is it known how many requests a pipe has.
    counts.requests ??= this.#asked.size;
  }

  // A line of the input. If the first one has no readable request, the command line is wrong, not the line.
  #lineOf(line: Line): BulkRequest | BadLine | undefined {
    const { format, name } = this.#parts;
    const read = readLine(line, format);
    if (this.#isFirst && !isBlank(line)) {
      const first = readLine(line, { ...format, shard: undefined });
      if (first && "problem" in first)
        throw new UsageError(`${name}, line ${line.number}: ${first.problem} Nothing was sent.`);
      this.#isFirst = false;
    }
    return read;
  }

  // Notes that a request is asked, and counts it if it is done.
  #count(request: BulkRequest): "done" | "changed" | undefined {
    const { known } = this.#parts.checkpoint;
    this.#asked.add(request.hash, printOf(request.fingerprint));
    const state = this.#stateOf(request);
    if (state !== "done") return state;
    this.#report.counts.before += 1;
    if (known.find(request) === strengths.final) this.#report.counts.finalBefore += 1;
    return state;
  }

  // A request is done, and is not sent, if it has a result or a final error.
  #stateOf(request: BulkRequest): "done" | "changed" | undefined {
    const found = this.#parts.checkpoint.known.find(request);
    if (found === "changed") return found;
    const isFinal = found === strengths.final && !this.#context.options.retryFinal;
    return isFinal || found === strengths.result ? "done" : undefined;
  }

  #bad(bad: BadLine): void {
    this.#report.counts.badLines += 1;
    this.#report.error(badRow(bad), `Line ${bad.line} is skipped. ${bad.problem}`);
    this.#parts.checkpoint.add(badRow(bad));
  }

  // Writes the row of a result, and counts it.
  #add({ id: request, response, rejected, error }: RerankAllResult<BulkRequest>): void {
    const { counts } = this.#report;
    const { id, fingerprint } = request;
    if (error !== undefined) {
      this.#addError(request, error);
      return;
    }
    const left = rejected?.map((each) => ({ index: each.index, error: rowError(each.error) }));
    try {
      this.#parts.checkpoint.add({ id, fingerprint, response, ...(left && { rejected: left }) });
    } catch (cause) {
      if (!(cause instanceof Unwritable)) throw cause;
      this.#addError(request, rankingError(cause.message, { cause }));
      return;
    }
    counts.ranked += 1;
    if (left !== undefined) counts.partly += 1;
    this.#report.update();
  }

  #addError({ id, fingerprint, line }: BulkRequest, failure: StatusError): void {
    const { counts } = this.#report;
    const isPaid = failure.executed === "yes";
    const isInvalid = isPaid || saysInvalid(failure);
    // A request that the client rejected unsent is tried again: an option may be at fault, and the check costs nothing.
    const final = isPaid || (isInvalid && failure.attempts.length > 0);
    const error = rowError(failure);
    if (isPaid) error.message += " The request ran, and was paid for: only --retry-final sends it again.";
    counts[final ? "final" : "failed"] += 1;
    if (isPaid || !isInvalid) this.#failed ??= failure;
    this.#parts.checkpoint.add({ id, fingerprint, error, final });
    this.#report.error({ line, id, error, final }, `Line ${line}: ${error.message}`);
  }

  // Describes why a run ended early: it was interrupted, it reached a limit, or an error ended it.
  #endOf(error: unknown): unknown {
    const { requests } = this.#report.counts;
    const isFailure = isStatusError(error);
    if (!isFailure && !this.#parts.stop.aborted) return error;
    const { limit, batchesLost = 0 } = (isFailure ? error : {}) as Partial<RerankAllError<BulkRequest>>;
    const done = this.#report.done;
    const count = requests === undefined ? grouped(done) : `${grouped(done)} of ${grouped(requests)}`;
    const again = batchesLost > 0 ? `, and sends ${counted(batchesLost, "batch")} of them again` : "";
    const progress = { done, of: requests, text: `${count} done; the same command continues${again}.` };
    if (!isFailure || this.#parts.stop.aborted)
      return new RunEnded("Interrupted", exitCodes.interrupted, progress);
    if (limit === undefined) return new RunEnded(undefined, exitCodeOfError(error), progress, error);
    const option = limit === "maxTokens" ? "--max-tokens" : "--max-requests";
    const reached = `${option} ${this.#context.options[limit]} is reached`;
    return new RunEnded(reached, exitCodes.limit, progress, error);
  }
}

function isBlank({ text }: Line): boolean {
  return text !== undefined && text.trim() === "";
}

function textOf({ high, low }: IdHash): string {
  return `${high} ${low}`;
}

function badRow({ line, problem }: BadLine): LineRow {
  return { line, error: { code: "INVALID_ARGUMENT", message: problem } };
}

function changedText(keys: readonly string[]): string {
  const [ids, has] =
    keys.length === 1 ? ["id has a result", "its request has"] : ["ids have results", "their requests have"];
  const shown = keys.slice(0, shownIds).join(", ");
  return `${grouped(keys.length)} ${ids}, but ${has} changed since: ${shown}${keys.length > shownIds ? " ..." : ""}. Add --update to rank them again, or name another --output.`;
}

/**
 * Whether an error means that the request itself is invalid, and stays invalid. Any other error is transient, or is not
 * the request's fault, such as an account's state or a web page in place of a response.
 */
function saysInvalid({ code, codeSource }: StatusError): boolean {
  if (code === "INVALID_ARGUMENT" || code === "OUT_OF_RANGE") return true;
  // A 404 without an error code in its body does not count: the service's address may be wrong, not the request.
  return code === "NOT_FOUND" && codeSource === "body";
}

// The fields of an error that its row has.
function rowError(error: StatusError): { message: string } & Readonly<Record<string, unknown>> {
  const { code, executed, httpStatus, requestId, attempts: all } = error;
  const message = `${errorFields(error, "bulk").message}`;
  return { code, message, executed, httpStatus, requestId, attempts: all.length };
}
