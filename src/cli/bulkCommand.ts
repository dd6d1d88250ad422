// `tunerank bulk FILE --output OUT`: ranks the requests of a file, and continues after any interruption.
import { statSync } from "node:fs";
import { type RerankAllError, type RerankAllResult, rerankAll } from "../bulk/index.js";
import { mostAtOnce, rankingError, stopSending } from "../engine.js";
import { type Client, isStatusError, type StatusError } from "../index.js";
import { type BadLine, type BulkRequest, badLine, formatOf, type LineFormat, readLine } from "./bulkLines.js";
import { Report } from "./bulkReport.js";
import { Checkpoint } from "./checkpoint.js";
import { type Context, namingFile, RunEnded, UsageError } from "./context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exitCodes.js";
import { type Input, isObject, openInput } from "./input.js";
import { errorFields } from "./reportFailure.js";
import { IdTable, printOf, type Row, type Strength, strengths } from "./rows.js";
import { counted, grouped } from "./terminal.js";
import { withClient } from "./withClient.js";

const shownIds = 3;

export async function run(context: Context): Promise<void> {
  const { args, options, dryRun, signal } = context;
  const [file = "-"] = args;
  const { output, strict } = options;
  if (output === undefined || output === "-")
    throw new UsageError("--output FILE is missing: results are written there, and a run continues from it.");
  const [from, to] = [file, output].map((name) => statSync(name, { throwIfNoEntry: false }));
  if (to !== undefined && from?.ino === to.ino && from.dev === to.dev)
    throw new UsageError("FILE and --output must be different files.");
  const format = formatOf(options);
  const stop = context.grace();
  const name = namingFile("FILE", file);
  const input = await openInput(file, name, "JSON lines", signal);
  try {
    if (strict && input.isPipe)
      throw new UsageError(
        "--strict reads all of FILE before it sends anything: a pipe cannot be read twice.",
      );
    const source = { path: output, option: "--output", strengthOf };
    const checkpoint = await Checkpoint.open(source, dryRun !== undefined, signal);
    await new BulkRun({ ...context, name, stop, format, input, checkpoint }).run();
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

interface BulkContext extends Context {
  readonly name: string;
  /** Aborts at the first signal: nothing more is to be sent. */
  readonly stop: AbortSignal;
  readonly format: LineFormat;
  readonly input: Input;
  readonly checkpoint: Checkpoint;
}

class BulkRun {
  readonly #context: BulkContext;
  readonly #report: Report;
  /** The fingerprints of the input's requests, by their ids. */
  readonly #asked = new IdTable();
  /** The hashes of ids that two lines may have, and the ids of lines that were read and have one of them. */
  readonly #twice = new Set<number>();
  readonly #read = new Set<string>();
  #isFirst = true;
  #failed: StatusError | undefined;

  constructor(context: BulkContext) {
    this.#context = context;
    this.#report = new Report(context.terminal);
  }

  async run(): Promise<void> {
    const { checkpoint, input, name, options, dryRun } = this.#context;
    const { counts } = this.#report;
    let ended: unknown;
    try {
      if (!input.isPipe) await this.#plan();
      const { size, skipped } = checkpoint.known;
      const others = skipped > 0 ? ` ${counted(skipped, "line")} there cannot be read.` : "";
      if (size > 0) this.#report.note(`${counted(size, "row")} found in --output and its parts.${others}`);
      const sockets = Math.max(mostAtOnce, Math.trunc(Number(options.concurrency)) || 0);
      await withClient(this.#context, "rerankDocuments", (client) => this.#rank(client), sockets);
      if (this.#isFirst && !options.allowEmpty)
        throw new UsageError(`${name} is empty: nothing was sent. If it may be empty, add --allow-empty.`);
    } catch (error) {
      ended = error;
    }
    const isUsage = isStatusError(ended) && exitCodeOfError(ended) === exitCodes.usage;
    if ((isUsage || ended instanceof UsageError) && this.#report.sent().requests === 0) {
      this.#report.progress.end();
      checkpoint.close();
      throw ended;
    }
    const left = counts.ranked + counts.final + counts.failed;
    const all = counts.requests ?? counts.before + left;
    const line = `${counted(all, "request")} in the input: ${grouped(counts.before)} already done, ${grouped(left)} to do.`;
    dryRun?.tell({ bulk: { ...counts, requests: all, left } }, [line]);
    const isComplete = counts.before + counts.ranked - counts.finalBefore === counts.requests;
    Object.assign(counts, await checkpoint.end(this.#asked, isComplete));
    this.#report.summary();
    if (checkpoint.failure !== undefined) throw checkpoint.failure;
    if (ended !== undefined) throw ended instanceof UsageError ? new Error(ended.message) : ended;
    // The exit code also tells of requests that an earlier run ended without a result.
    if (this.#failed !== undefined) throw new RunEnded({ exitCode: exitCodeOfError(this.#failed) });
    if (counts.final + counts.finalBefore + counts.failed + counts.badLines + counts.partly > 0)
      throw new RunEnded({ exitCode: exitCodeOf.INVALID_ARGUMENT });
  }

  // Reads the whole input before anything is sent: how many requests are done, and which have changed since.
  async #plan(): Promise<void> {
    const { strict } = this.#context.options;
    const { counts } = this.#report;
    const changed: string[] = [];
    let invalid = 0;
    counts.requests = 0;
    for await (const read of this.#lines()) {
      if ("error" in read) {
        invalid += 1;
        if (strict) this.#report.error(read, `Line ${read.line} is invalid. ${read.error.message}`);
      } else if (this.#asked.has(read.hash)) this.#twice.add(read.hash);
      else {
        counts.requests += 1;
        if (this.#stateOf(read, true) === "changed") changed.push(read.key);
      }
    }
    if (strict && invalid > 0)
      throw new UsageError(`${counted(invalid, "invalid line")}: nothing was sent (--strict).`);
    if (changed.length > 0) throw new UsageError(`${changedText(changed)} Nothing was sent.`);
  }

  async #rank(client: Client): Promise<void> {
    const { stop, checkpoint, options, signal, dryRun } = this.#context;
    const { batchSize, concurrency, rate, tokensPerMinute, maxRequests, maxTokens } = options;
    const { timeout, totalTimeout, maxPause } = options;
    const ms = (seconds: number | undefined): number | undefined => seconds && seconds * 1000;
    const times = { timeoutMs: ms(timeout), totalTimeoutMs: ms(totalTimeout), maxPauseMs: ms(maxPause) };
    const limits = { rate: { requestsPerMinute: rate, tokensPerMinute }, maxRequests, maxTokens };
    // A dry run counts all that there is to send, so limits on what a run sends are checked, but do not apply.
    if (dryRun !== undefined) rerankAll(client, [], limits);
    let attempts = 0;
    const results = rerankAll(client, this.#requests(), {
      ...{ batchSize, concurrency, signal, sharesService: options.shard !== undefined, ...times },
      ...(dryRun === undefined && limits),
      onAttempt: (attempt) => {
        attempts += 1;
        this.#report.attempted(attempt.pauseMs ?? 0, attempt.cause);
      },
    });
    this.#report.sent = () => results.counts;
    for (const each of [stop, checkpoint.full]) each.addEventListener("abort", () => stopSending(results));
    // Requests in flight when the time for them is over may be paid for, and have no row.
    signal.addEventListener("abort", () => {
      this.#report.counts.lost = results.counts.requests - attempts;
    });
    const timer = setInterval(() => this.#report.update(), 100);
    let ended: unknown;
    try {
      for await (const result of results)
        if (result.error === undefined) this.#add(result);
        else this.#addError(result.id, result.error);
    } catch (error) {
      ended = error;
    } finally {
      clearInterval(timer);
    }
    // If all requests are done, the run ends as usual, even if it was stopped or the last of them reached a limit.
    const isOver = this.#report.done === this.#report.counts.requests;
    if ((ended !== undefined && !isStatusError(ended)) || ((ended || stop.aborted) && !isOver))
      throw this.#endOf(ended);
  }

  // Yields the requests to send, until the run is stopped.
  async *#requests(): AsyncGenerator<BulkRequest["body"] & { readonly id: BulkRequest }> {
    const { input, stop, checkpoint } = this.#context;
    for await (const read of this.#lines()) {
      if (stop.aborted || checkpoint.full.aborted) return;
      // Of a pipe, all ids are kept; of a file, those whose hash occurs twice.
      const mayBeSecond = !("error" in read) && (input.isPipe || this.#twice.has(read.hash));
      const isSecond = mayBeSecond && this.#read.has(read.key);
      if (mayBeSecond) this.#read.add(read.key);
      if ("error" in read || isSecond) {
        const bad = "error" in read ? read : badLine(read.line, "An earlier line has this id.");
        this.#report.counts.badLines += 1;
        this.#report.error(bad, `Line ${bad.line} is skipped. ${bad.error.message}`);
        checkpoint.add(bad);
        continue;
      }
      const state = this.#stateOf(read, input.isPipe);
      if (state === "changed") throw new Error(changedText([read.key]));
      if (state !== "done") yield { ...read.body, id: read };
    }
    // Only at its end is it known how many requests a pipe has.
    this.#report.counts.requests ??= this.#asked.size;
  }

  // The lines of the input. If the first one has no readable request, the command line is wrong, not the line.
  async *#lines(): AsyncGenerator<BulkRequest | BadLine> {
    const { format, name, input } = this.#context;
    for await (const lines of input.lines()) {
      for (const line of lines) {
        const read = readLine(line, format);
        const first = this.#isFirst ? readLine(line, { ...format, isOfShard: () => true }) : undefined;
        if (first && "error" in first)
          throw new UsageError(`${name}, line ${line.number}: ${first.error.message} Nothing was sent.`);
        if (first) this.#isFirst = false;
        if (read !== undefined) yield read;
      }
    }
  }

  // A request is done, and is not sent, if it has a result or a final error. @param isNew Whether it is counted, too
  #stateOf(request: BulkRequest, isNew: boolean): "done" | "changed" | undefined {
    const { retryFinal, update } = this.#context.options;
    const { counts } = this.#report;
    const found = this.#context.checkpoint.known.find(request);
    const isFinal = found === strengths.final && !retryFinal;
    const isDone = isFinal || found === strengths.result;
    if (isNew) this.#asked.add(request.hash, printOf(request.fingerprint));
    if (isNew && isDone) counts.before += 1;
    if (isNew && isFinal) counts.finalBefore += 1;
    return isDone ? "done" : found === "changed" && !update ? found : undefined;
  }

  // Writes the row of a result, and counts it.
  #add({ id: request, response, rejected }: RerankAllResult<BulkRequest>): void {
    const { counts } = this.#report;
    const { id, fingerprint } = request;
    const left = rejected?.map((each) => ({ index: each.index, error: rowError(each.error) }));
    try {
      this.#context.checkpoint.add({ id, fingerprint, response, ...(left && { rejected: left }) });
      counts.ranked += 1;
      if (left !== undefined) counts.partly += 1;
      this.#report.update();
    } catch (cause) {
      // Such as a response that is nested too deeply.
      this.#addError(request, rankingError("The response cannot be written as JSON.", { cause }));
    }
  }

  #addError({ id, fingerprint, line }: BulkRequest, failure: StatusError): void {
    const isPaid = failure.executed === "yes";
    // Such a request stays invalid. Any other error is transient, or is not the request's fault, such as an account's state
    // or a web page in place of a response; so a 404 counts only if its body says NOT_FOUND: the address may be wrong.
    const { code, codeSource } = failure;
    const isInvalid =
      /^(INVALID_ARGUMENT|OUT_OF_RANGE)$/.test(code) || `${code} ${codeSource}` === "NOT_FOUND body";
    // A request that the client rejected unsent is tried again: an option may be at fault, and the check costs nothing.
    const final = isPaid || (isInvalid && failure.attempts.length > 0);
    const error = rowError(failure);
    if (isPaid) error.message += " The request ran, and was paid for: only --retry-final sends it again.";
    this.#report.counts[final ? "final" : "failed"] += 1;
    if (isPaid || !isInvalid) this.#failed ??= failure;
    this.#context.checkpoint.add({ id, fingerprint, error, final });
    this.#report.error({ line, id, error, final }, `Line ${line}: ${error.message}`);
  }

  // Describes why a run ended early: it was interrupted, it reached a limit, or an error ended it.
  #endOf(error: unknown): unknown {
    const { done, counts } = this.#report;
    const of = counts.requests;
    const text = `${grouped(done)}${of === undefined ? "" : ` of ${grouped(of)}`} done; the same command continues.`;
    const progress = { done, of, text };
    if (this.#context.stop.aborted)
      return new RunEnded({ exitCode: exitCodes.interrupted, progress }, "Interrupted");
    if (!isStatusError(error)) return error;
    const { limit } = error as Partial<RerankAllError<BulkRequest>>;
    if (limit === undefined) return new RunEnded({ exitCode: exitCodeOfError(error), progress, error });
    const option = limit === "maxTokens" ? "--max-tokens" : "--max-requests";
    const reached = `${option} ${this.#context.options[limit]} is reached`;
    return new RunEnded({ exitCode: exitCodes.limit, progress, error }, reached);
  }
}

function changedText(keys: readonly string[]): string {
  const shown = keys.slice(0, shownIds).join(", ") + (keys.length > shownIds ? " ..." : "");
  return `The requests of ${counted(keys.length, "id")} have changed since they got results: ${shown}. Add --update to rank them again, or name another --output.`;
}

// The fields of an error that its row has.
function rowError(error: StatusError): { message: string } & Readonly<Record<string, unknown>> {
  const { code, executed, httpStatus, requestId, attempts: all } = error;
  const message = `${errorFields(error, "bulk").message}`;
  return { code, message, executed, httpStatus, requestId, attempts: all.length };
}
