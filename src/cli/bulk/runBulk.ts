import { type RerankAllError, type RerankAllResult, rerankAll } from "../../bulk/index.js";
import { mostAtOnce } from "../../engine.js";
import { type Client, isStatusError, type RerankRequest, type StatusError } from "../../index.js";
import { type CheckpointFile, waitOptionsOf, withFiles } from "../checkpoints/checkpointFile.js";
import type { Row, RowSource } from "../checkpoints/readRows.js";
import { droppedRows } from "../checkpoints/rowWriter.js";
import { type Context, cannotRead, Reported, RunEnded, UsageError } from "../context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "../exitCodes.js";
import { inputChangedAt } from "../input/fileContent.js";
import { InvalidLines } from "../input/invalidLines.js";
import type { Line } from "../input/lines.js";
import { openInput, rowsOf } from "../input/readInput.js";
import { counted, grouped } from "../terminal.js";
import { withClient } from "../withClient.js";
import { BulkRequest, isOwn, readLine } from "./bulkRequest.js";
import {
  addBadLine,
  addCopy,
  addDuplicate,
  addResult,
  addShared,
  isFinal,
  type OutputFiles,
  printSummary,
  Report,
} from "./bulkResults.js";
import { type BulkOptions, type BulkSettings, bulkSettings } from "./bulkSettings.js";
import { dropReplaced, EarlierRows } from "./earlierRows.js";
import { EqualRequests } from "./equalRequests.js";
import { type Counts, doneOf, leftOf, settled } from "./figures.js";
import { FirstLines, faultOf } from "./firstLines.js";
import { type FirstPassResult, firstPass } from "./firstPass.js";

type RequestToSend = RerankRequest & { readonly id: BulkRequest };

const none = {
  ranked: 0,
  partly: 0,
  copied: 0,
  same: 0,
  wrong: 0,
  paid: 0,
  paidCopied: 0,
  failed: 0,
  badLines: 0,
  notShown: 0,
};

interface BulkRun {
  readonly settings: BulkSettings;
  readonly signal: AbortSignal;
  readonly earlier: EarlierRows;
  readonly found: FirstPassResult | undefined;
  readonly equals: EqualRequests;
  readonly files: OutputFiles;
  readonly report: Report;
}

/** Runs `tunerank rerank --bulk FILE --output FILE`. */
export async function runBulk(context: Context<BulkOptions>): Promise<void> {
  const settings = bulkSettings(context);
  const { output, errors, concurrency } = settings;
  const shard = settings.reading.shard;
  const sources: RowSource[] = [{ path: output, option: "--output", kind: "rerank output", shard }];
  if (errors !== undefined) sources.push({ path: errors, option: "--errors", kind: "rerank errors", shard });
  const rank = (client: Client): Promise<void> =>
    withFiles(sources, waitOptionsOf(context, context.options.wait), (owned, signal) =>
      runOwning({ ...context, signal }, settings, owned, client),
    );
  const sockets = concurrency === "auto" ? mostAtOnce : Math.max(mostAtOnce, concurrency);
  await withClient(context, "rerankDocuments", rank, sockets);
}

async function runOwning(
  context: Context<BulkOptions>,
  settings: BulkSettings,
  checkpoints: readonly CheckpointFile[],
  client: Client,
): Promise<void> {
  const started = performance.now();
  const run = await openRun(context, settings, checkpoints);
  const begunAt = [run.files.output, run.files.errors].map((rows) => rows?.end ?? 0);
  let isRefused = false;
  try {
    await rankAll(run, client);
  } catch (error) {
    // An unusable pipe is noticed only here, when its first lines are read: nothing was sent, so there is no summary.
    isRefused = error instanceof UsageError;
    throw error;
  } finally {
    const { report } = run;
    report.end();
    await tidy(run.files, begunAt, checkpoints);
    for (const file of checkpoints) file.check();
    const seconds = (performance.now() - started) / 1000;
    const kept = run.files.errors === undefined ? "nowhere" : "errors";
    const { facts, line } = leftOf(report.counts);
    context.dryRun?.tell(facts, [line]);
    if (!isRefused) printSummary(context.terminal, report, seconds, kept);
  }
}

// Drops error rows of earlier runs that a row of this run has replaced, unless another program has changed a file.
async function tidy(
  { output, errors, replaced }: OutputFiles,
  begunAt: readonly number[],
  checkpoints: readonly CheckpointFile[],
): Promise<void> {
  if (replaced.size === 0 || output.changed.aborted || errors?.changed.aborted) return;
  for (const [at, file] of checkpoints.entries()) await dropReplaced(file, replaced, begunAt[at] ?? 0);
}

// Reads the rows of earlier runs and the input, and opens the files that receive the results.
async function openRun(
  { terminal, signal }: Context<BulkOptions>,
  settings: BulkSettings,
  [output, errors]: readonly CheckpointFile[],
): Promise<BulkRun> {
  const { resendPaid, isStrict } = settings;
  const before = await EarlierRows.read(output as CheckpointFile, errors, resendPaid);
  if (settings.isPipe && before.size > 0)
    throw new UsageError("A run from a pipe cannot be continued: --output and --errors must be new files.");
  const invalid = isStrict ? new InvalidLines(terminal.tell, true) : undefined;
  const pass = { ...settings, invalid, earlier: before, signal };
  // Nothing has been sent yet, so an input that cannot be read is an error of the command line.
  const found = settings.isPipe
    ? undefined
    : await firstPass(pass).catch((error) => {
        throw cannotRead(settings.input.name, error, " Nothing was sent.");
      });
  const files: OutputFiles = {
    output: await before.openOutput(output as CheckpointFile),
    errors: errors && (await before.openErrors(errors)),
    replaced: new Set(),
  };
  // If `openOutput` dropped replaced rows, the other rows have moved, so their offsets are read again.
  const isMoved = before.output.hasReplaced;
  const earlier = isMoved ? await EarlierRows.read(output as CheckpointFile, errors, resendPaid) : before;
  const counts = {
    requests: found?.requests,
    before: found?.done.size ?? 0,
    wrongBefore: found?.wrong ?? 0,
    paidBefore: found?.paid ?? 0,
    partlyBefore: found?.partly ?? 0,
  };
  const report = new Report(terminal, { ...counts, ...none });
  report.paidBefore();
  report.allInvalid(found?.allInvalid);
  for (const [field, lines] of found?.ownInstead ?? []) report.overruled(field, lines);
  for (const [name, lines] of found?.nearNames ?? []) report.nearlySent(name, lines);
  return { settings, signal, earlier, found, equals: new EqualRequests(), files, report };
}

async function rankAll(run: BulkRun, client: Client): Promise<void> {
  const { settings, signal, report } = run;
  const { batchSize, split, concurrency, rate, maxRequests, maxTokens } = settings;
  const { timeoutMs, totalTimeoutMs, maxPauseMs, reading } = settings;
  const limits = { concurrency, rate, maxRequests, maxTokens, timeoutMs, totalTimeoutMs, maxPauseMs };
  const onAttempt = report.attempted.bind(report);
  const sharesService = reading.shard !== undefined;
  const options = { batchSize, split, ...limits, sharesService, signal, onAttempt };
  let failed: StatusError | undefined;
  const results = rerankAll(client, requestsOf(run), options);
  report.sent = () => results.counts;
  const timer = setInterval(() => report.update(), 100);
  try {
    for await (const result of results) {
      const error = addAll(result, run);
      failed ??= error;
      report.update();
    }
  } catch (error) {
    // If all requests are done, the run ends as usual, even if the last of them reached a limit.
    const isOver = isStatusError(error) && doneOf(report.counts) === report.counts.requests;
    if (isStatusError(error) && !isOver) throw endOf(run, error as RerankAllError<BulkRequest>);
    // If a signal aborts the read of a pipe, the stream throws some other error: the run was interrupted all the same.
    if (!isOver) throw signal.aborted ? endOf(run, undefined) : error;
  } finally {
    clearInterval(timer);
  }
  // The exit code also tells of requests that an earlier run ended without a complete result.
  const { wrong, wrongBefore, paidBefore, badLines, partly, partlyBefore } = report.counts;
  if (failed !== undefined) throw new Reported(exitCodeOfError(failed));
  if (paidBefore > 0) throw new Reported(exitCodeOf.INTERNAL);
  if (wrong + wrongBefore + badLines + partly + partlyBefore > 0)
    throw new Reported(exitCodeOf.INVALID_ARGUMENT);
}

// Describes why a run ended early: it was interrupted, it reached a limit, or an error ended it.
function endOf({ settings, report }: BulkRun, error: RerankAllError<BulkRequest> | undefined): RunEnded {
  const { isPipe, maxRequests, maxTokens } = settings;
  const { requests } = report.counts;
  const done = doneOf(report.counts);
  const count = requests === undefined ? grouped(done) : `${grouped(done)} of ${grouped(requests)}`;
  const next = isPipe
    ? "a run from a pipe cannot be continued. What was ranked is in --output."
    : nextAfter(report.counts, error);
  const progress = { done, of: requests, text: `${count} done; ${next}` };
  if (error === undefined || error.code === "CANCELLED")
    return new RunEnded("Interrupted", exitCodes.interrupted, progress, error);
  const { limit } = error;
  if (limit === undefined) return new RunEnded(undefined, exitCodeOfError(error), progress, error);
  const reached = { maxRequests: `--max-requests ${maxRequests}`, maxTokens: `--max-tokens ${maxTokens}` };
  return new RunEnded(`${reached[limit]} is reached`, exitCodes.limit, progress, error);
}

// Says how to continue a run from a file, and how many requests were paid for whose line has no row yet.
function nextAfter(
  counts: Counts,
  { limit, batchesLost = 0 }: Partial<RerankAllError<BulkRequest>> = {},
): string {
  const sent = counted(batchesLost, "request");
  if (batchesLost === 0) return "the same command continues.";
  if (limit !== undefined && settled(counts) === 0)
    return `${sent} ${batchesLost === 1 ? "was" : "were"} sent for a line that they do not finish: allow more.`;
  return `the same command continues, and sends ${sent} of unfinished lines again.`;
}

// Yields the requests to send. It ends once another program has changed a result file; requests in flight still finish.
async function* requestsOf(run: BulkRun): AsyncGenerator<RequestToSend> {
  const { output, errors } = run.files;
  const changed = AbortSignal.any([output.changed, ...(errors ? [errors.changed] : [])]);
  try {
    yield* requestsUntil(changed, run);
  } catch (error) {
    if (!changed.aborted) throw error;
  }
}

async function* requestsUntil(changed: AbortSignal, run: BulkRun): AsyncGenerator<RequestToSend> {
  const { settings, earlier, found, files, report } = run;
  const seen = new Set<string>();
  const told = new Set<string>();
  for await (const lines of linesToDo(run, AbortSignal.any([run.signal, changed]))) {
    for (const line of lines) {
      if (changed.aborted) return;
      const isDone = found?.done.has(line.number) === true;
      if (isDone && !settings.dedupe) continue;
      const request = readLine(line, settings.reading);
      if (request === undefined || !isOwn(request, settings.reading)) continue;
      if (!(request instanceof BulkRequest)) addBadLine(request, files, report);
      else if (isDone) noteDone(request, run);
      else if (settings.isPipe && seen.has(request.key)) addDuplicate(request, files, report);
      else if (earlier.find(request) === "no") {
        request.resent = earlier.resentOf(request);
        if (settings.isPipe) seen.add(request.key);
        if (settings.isPipe) tellOnce(request, told, report);
        if (await isSent(request, run)) yield { ...request.body, id: request };
      }
    }
  }
}

// Records where the row of a finished request is, so that requests that ask the same can copy it.
function noteDone(request: BulkRequest, { earlier, equals }: BulkRun): void {
  const offset = earlier.output.rankedAt(request);
  if (offset !== undefined) equals.add(request, offset);
}

const unknownRow: Row = { id: "", fingerprint: "", response: { data: [] } };

// Whether a request is sent. With --dedupe, it is not sent if an equal request has a row or is in flight.
async function isSent(request: BulkRequest, run: BulkRun): Promise<boolean> {
  const { equals, settings, earlier, files, report } = run;
  if (!settings.dedupe) {
    equals.send(request);
    return true;
  }
  // The client rejects an invalid request without sending it, perhaps only after it has read more requests.
  // Requests that ask the same do not wait for that.
  if (faultOf(request) !== undefined) return true;
  while (equals.isFull) await equals.oneSettled();
  const place = equals.place(request);
  if (typeof place === "number") {
    // A dry run writes no rows, so an empty row is counted in place of the one to copy.
    const row = files.output === droppedRows ? unknownRow : earlier.output.rowAt(place);
    addCopy(request, row, files, report);
  } else if (typeof place === "object") addShared({ id: request, error: place }, files, report);
  return place === "send";
}

// Adds the rows of a result: that of its request, and those of the requests that waited for it.
function addAll(
  result: RerankAllResult<BulkRequest>,
  { equals, files, report, settings }: BulkRun,
): StatusError | undefined {
  const { end } = files.output;
  const error = addResult(result, files, report);
  const isRanked = result.error === undefined && error === undefined;
  const isSent = isRanked || (result.error ?? error)?.attempts.length !== 0;
  if (isSent && equals.isRepeat(result.id)) report.counts.same += 1;
  const failed = result.error ?? error;
  const shared = settings.dedupe && failed !== undefined && isFinal(failed) ? failed : undefined;
  for (const id of equals.settled(result.id, isRanked ? end : shared)) {
    addShared({ ...result, id }, files, report);
  }
  return error;
}

// Only this many names are reported, because each line of a pipe may have different fields.
const mostTold = 8;

// Reports the first line of a pipe with each field that overrides an option or is probably a typo: a pipe's lines
// cannot be counted before they are sent.
function tellOnce(request: BulkRequest, told: Set<string>, report: Report): void {
  const where = { first: request.line };
  for (const name of request.ownInstead) {
    if (!told.has(name)) report.overruled(name, where);
    told.add(name);
  }
  for (const name of request.nearNames) {
    if (told.has(name) || told.size >= mostTold) continue;
    report.nearlySent(name, where);
    told.add(name);
  }
}

async function* linesToDo(
  { settings, found, report }: BulkRun,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  const { file, input } = settings;
  if (found === undefined) return yield* startingWell(pipedLines(file, input, signal), settings, report);
  const { content } = found;
  for await (const lines of rowsOf(content.again(signal), input)) {
    const last = lines.at(-1) as Line;
    const isWhole = last.hasEnd || !(await content.hasLongerLine());
    yield isWhole ? lines : lines.slice(0, -1);
    if (isWhole) continue;
    // Another program is still writing the last line. It is left for the next start, unless the first pass counted it.
    if (readLine(last, settings.reading) instanceof BulkRequest) throw inputChangedAt(last.number);
    report.tell(`Line ${last.number} is not complete yet: the next start reads it.`);
  }
}

// Holds the first lines of a pipe back until it is known that they are not all invalid in the same way.
async function* startingWell(
  all: AsyncIterable<readonly Line[]>,
  { reading }: BulkSettings,
  report: Report,
): AsyncGenerator<readonly Line[]> {
  const first = new FirstLines();
  const held: (readonly Line[])[] = [];
  for await (const lines of all) {
    held.push(lines);
    for (const line of first.isOver ? [] : lines) {
      const read = readLine(line, reading);
      if (read !== undefined) first.add(read, isOwn(read, reading));
    }
    if (first.isOver) yield* held.splice(0);
  }
  report.allInvalid(first.said);
  yield* held;
}

// The lines of a pipe. After the first of them, requests may have been sent, so an error is no longer one of usage.
async function* pipedLines(
  file: string,
  input: BulkSettings["input"],
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  let isBegun = false;
  try {
    for await (const lines of rowsOf(openInput(file, signal), input)) {
      isBegun = true;
      yield lines;
    }
  } catch (error) {
    const named = cannotRead(input.name, error, isBegun ? "" : " Nothing was sent.");
    throw isBegun && named !== error ? new Error((named as Error).message, { cause: error }) : named;
  }
}
