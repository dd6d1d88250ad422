// `tunerank bulk FILE --output OUT`: ranks the requests of a file, and continues after any interruption.
import { statSync } from "node:fs";
import { type RerankAllError, type RerankAllResult, rerankAll } from "../bulk/index.js";
import { mostAtOnce, rankingError, stopSending } from "../engine.js";
import { type Client, isStatusError, type StatusError } from "../index.js";
import { type BadLine, type BulkRequest, badLine, readLine, shardOf } from "./bulkLines.js";
import { Report } from "./bulkReport.js";
import { Checkpoint } from "./checkpoint.js";
import { type Context, namingFile, RunEnded, UsageError } from "./context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exitCodes.js";
import { type Input, isObject, openInput } from "./input.js";
import { optionOf } from "./options.js";
import { errorFields } from "./reportFailure.js";
import { type Row, type Strength, strengths } from "./rows.js";
import { counted, grouped } from "./terminal.js";
import { withClient } from "./withClient.js";

const shownIds = 3;

interface BulkRun extends Context {
  readonly name: string;
  readonly input: Input;
  readonly isOfShard: ReturnType<typeof shardOf>;
  readonly checkpoint: Checkpoint;
  readonly stop: AbortSignal;
  readonly report: Report;
  /** The hashes of ids that two lines may have, and the ids of lines that were read and have one of them. */
  readonly twice: Set<number>;
  readonly read: Set<string>;
  isEmpty: boolean;
  /** The first failure that is not the fault of a request. */
  failed: StatusError | undefined;
}

export async function run(context: Context): Promise<void> {
  const { args, options, dryRun, signal, terminal } = context;
  const [file = "-"] = args;
  const { output, strict } = options;
  if (output === undefined || output === "-")
    throw new UsageError("--output FILE is missing: results are written there, and a run continues from it.");
  const [from, to] = [file, output].map((name) => statSync(name, { throwIfNoEntry: false }));
  if (to !== undefined && from?.ino === to.ino && from.dev === to.dev)
    throw new UsageError("FILE and --output must be different files.");
  const isOfShard = shardOf(options.shard ?? "0/1");
  const stop = context.grace();
  const name = namingFile("FILE", file);
  const input = await openInput(file, name, "JSON lines", signal);
  try {
    if (strict && input.isPipe)
      throw new UsageError("--strict reads all of FILE first, and a pipe cannot be read twice.");
    const source = { path: output, option: "--output", strengthOf };
    const checkpoint = await Checkpoint.open(source, dryRun !== undefined, signal);
    const state = { twice: new Set<number>(), read: new Set<string>(), isEmpty: true, failed: undefined };
    const report = new Report(terminal);
    await runOver({ ...context, name, input, isOfShard, checkpoint, stop, report, ...state });
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

async function runOver(run: BulkRun): Promise<void> {
  const { checkpoint, input, name, options, dryRun, report } = run;
  const { counts } = report;
  let ended: unknown;
  try {
    if (!input.isPipe) await plan(run);
    const { size, skipped } = checkpoint.known;
    const others = skipped > 0 ? ` ${counted(skipped, "line")} there cannot be read.` : "";
    if (size > 0) report.note(`${counted(size, "row")} found in --output and its parts.${others}`);
    const sockets = Math.max(mostAtOnce, Math.trunc(Number(options.concurrency)) || 0);
    await withClient(run, "rerankDocuments", (client) => rank(run, client), sockets);
    if (run.isEmpty && !options.allowEmpty)
      throw new UsageError(`${name} is empty: nothing was sent. If it may be empty, add --allow-empty.`);
  } catch (error) {
    ended = error;
  }
  const isUsage = isStatusError(ended) && exitCodeOfError(ended) === exitCodes.usage;
  if ((isUsage || ended instanceof UsageError) && report.sent().requests === 0) {
    report.end();
    checkpoint.close();
    throw ended;
  }
  const left = counts.ranked + counts.final + counts.failed;
  const all = counts.requests ?? counts.before + left;
  const line = `${counted(all, "request")} in the input: ${grouped(counts.before)} already done, ${grouped(left)} to do.`;
  dryRun?.tell({ bulk: { ...counts, requests: all, left } }, [line]);
  const isComplete = counts.before + counts.ranked - counts.finalBefore === counts.requests;
  Object.assign(counts, await checkpoint.end(isComplete));
  report.summary();
  if (checkpoint.failure !== undefined) throw checkpoint.failure;
  if (ended !== undefined) throw ended instanceof UsageError ? new Error(ended.message) : ended;
  // The exit code also tells of requests that an earlier run ended without a result.
  if (run.failed !== undefined) throw new RunEnded(exitCodeOfError(run.failed));
  if (counts.final + counts.finalBefore + counts.failed + counts.badLines + counts.partly > 0)
    throw new RunEnded(exitCodeOf.INVALID_ARGUMENT);
}

// Reads the whole input before anything is sent: how many requests are done, and which have changed since.
async function plan(run: BulkRun): Promise<void> {
  const { checkpoint, options, report, twice } = run;
  const changed: string[] = [];
  let [requests, invalid] = [0, 0];
  for await (const read of linesOf(run)) {
    if ("error" in read) {
      invalid += 1;
      if (options.strict) report.error(read, `Line ${read.line} is invalid. ${read.error.message}`);
    } else if (checkpoint.asked.some(read.hash, () => true)) twice.add(read.hash);
    else {
      requests += 1;
      if (stateOf(run, read, true) === "changed") changed.push(read.key);
    }
  }
  if (options.strict && invalid > 0)
    throw new UsageError(`${counted(invalid, "invalid line")}: nothing was sent (--strict).`);
  if (changed.length > 0) throw new UsageError(`${changedText(changed)} Nothing was sent.`);
  report.counts.requests = requests;
}

async function rank(run: BulkRun, client: Client): Promise<void> {
  const { stop, checkpoint, options, signal, dryRun, report } = run;
  const { batchSize, concurrency, rate, tokensPerMinute, maxRequests, maxTokens } = options;
  const { timeout: timeoutMs, totalTimeout: totalTimeoutMs, maxPause: maxPauseMs } = options;
  const limits = { rate: { requestsPerMinute: rate, tokensPerMinute }, maxRequests, maxTokens };
  // A dry run counts all that there is to send, so limits on what a run sends are checked, but do not apply.
  if (dryRun !== undefined) rerankAll(client, [], limits);
  let attempts = 0;
  const results = rerankAll(client, requestsOf(run), {
    ...{ batchSize, concurrency, signal, sharesService: options.shard !== undefined },
    ...{ timeoutMs, totalTimeoutMs, maxPauseMs },
    ...(dryRun === undefined && limits),
    onAttempt: (attempt) => {
      attempts += 1;
      report.attempted(attempt.pauseMs ?? 0, attempt.cause);
    },
  });
  report.sent = () => results.counts;
  for (const each of [stop, checkpoint.full]) each.addEventListener("abort", () => stopSending(results));
  // Requests in flight when the time for them is over may be paid for, and have no row.
  signal.addEventListener("abort", () => {
    report.counts.lost = results.counts.requests - attempts;
  });
  const timer = setInterval(() => report.update(), 100);
  let ended: unknown;
  try {
    for await (const result of results)
      if (result.error === undefined) add(run, result);
      else addError(run, result.id, result.error);
  } catch (error) {
    ended = error;
  } finally {
    clearInterval(timer);
  }
  // If all requests are done, the run ends as usual, even if it was stopped or the last of them reached a limit.
  const isOver = report.done === report.counts.requests;
  if ((ended !== undefined && !isStatusError(ended)) || ((ended || stop.aborted) && !isOver))
    throw endOf(run, ended);
}

// Yields the requests to send, until the run is stopped.
async function* requestsOf(run: BulkRun): AsyncGenerator<BulkRequest["body"] & { readonly id: BulkRequest }> {
  const { input, stop, checkpoint, report } = run;
  for await (const read of linesOf(run)) {
    if (stop.aborted || checkpoint.full.aborted) return;
    // Of a pipe, all ids are kept; of a file, those whose hash occurs twice.
    const mayBeSecond = !("error" in read) && (input.isPipe || run.twice.has(read.hash));
    const isSecond = mayBeSecond && run.read.has(read.key);
    if (mayBeSecond) run.read.add(read.key);
    if ("error" in read || isSecond) {
      const bad = "error" in read ? read : badLine(read.line, "An earlier line has this id.");
      report.counts.badLines += 1;
      report.error(bad, `Line ${bad.line} is skipped. ${bad.error.message}`);
      checkpoint.add(bad);
      continue;
    }
    const state = stateOf(run, read, input.isPipe);
    if (state === "changed") throw new Error(changedText([read.key]));
    if (state !== "done") yield { ...read.body, id: read };
  }
  // Only at its end is it known how many requests a pipe has.
  report.counts.requests ??= checkpoint.asked.size;
}

// The lines of the input. If the first one has no readable request, the command line is wrong, not the line.
async function* linesOf(run: BulkRun): AsyncGenerator<BulkRequest | BadLine> {
  const { options, name, input } = run;
  for await (const lines of input.lines())
    for (const line of lines) {
      if (line.text?.trim() === "") continue;
      const read = readLine(line, options);
      if (run.isEmpty && "error" in read)
        throw new UsageError(`${name}, line ${line.number}: ${read.error.message} Nothing was sent.`);
      run.isEmpty = false;
      if (run.isOfShard(read)) yield read;
    }
}

// A request is done, and is not sent, if it has a result or a final error. @param isNew Whether it is counted, too
function stateOf(
  { checkpoint, options, report: { counts } }: BulkRun,
  request: BulkRequest,
  isNew: boolean,
): "done" | "changed" | undefined {
  const found = isNew ? checkpoint.ask(request) : checkpoint.known.find(request);
  const isFinal = found === strengths.final && !options.retryFinal;
  const isDone = isFinal || found === strengths.result;
  if (isNew && isDone) counts.before += 1;
  if (isNew && isFinal) counts.finalBefore += 1;
  return isDone ? "done" : found === "changed" && !options.update ? found : undefined;
}

function add(run: BulkRun, { id: request, response, rejected }: RerankAllResult<BulkRequest>): void {
  const { counts } = run.report;
  const { id, fingerprint } = request;
  const left = rejected?.map((each) => ({ index: each.index, error: rowError(each.error) }));
  try {
    run.checkpoint.add({ id, fingerprint, response, ...(left && { rejected: left }) });
    counts.ranked += 1;
    if (left !== undefined) counts.partly += 1;
    run.report.update();
  } catch (cause) {
    // Such as a response that is nested too deeply.
    addError(run, request, rankingError("The response cannot be written as JSON.", { cause }));
  }
}

function addError(run: BulkRun, { id, fingerprint, line }: BulkRequest, failure: StatusError): void {
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
  run.report.counts[final ? "final" : "failed"] += 1;
  if (isPaid || !isInvalid) run.failed ??= failure;
  run.checkpoint.add({ id, fingerprint, error, final });
  run.report.error({ line, id, error, final }, `Line ${line}: ${error.message}`);
}

function endOf({ report: { done, counts }, stop, options }: BulkRun, error: unknown): unknown {
  const of = counts.requests;
  const text = `${grouped(done)}${of === undefined ? "" : ` of ${grouped(of)}`} done; the same command continues.`;
  const progress = { done, of, text };
  if (stop.aborted) return new RunEnded(exitCodes.interrupted, progress, "Interrupted");
  if (!isStatusError(error)) return error;
  const { limit } = error as Partial<RerankAllError<BulkRequest>>;
  if (limit === undefined) return new RunEnded(exitCodeOfError(error), progress, "", error);
  const reached = `${optionOf(limit, "bulk")} ${options[limit]} is reached`;
  return new RunEnded(exitCodes.limit, progress, reached, error);
}

function changedText(keys: readonly string[]): string {
  const shown = keys.slice(0, shownIds).join(", ") + (keys.length > shownIds ? " ..." : "");
  return `The requests of ${counted(keys.length, "id")} have changed since they got results: ${shown}. Add --update to rank them again, or name another --output.`;
}

function rowError(error: StatusError): { message: string } & Readonly<Record<string, unknown>> {
  const { code, executed, httpStatus, requestId, attempts: all } = error;
  const message = `${errorFields(error, "bulk").message}`;
  return { code, message, executed, httpStatus, requestId, attempts: all.length };
}
