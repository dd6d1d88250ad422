import { attemptPolicy, defaultConnections, type Lane, runBatches } from "../../engine.js";
import {
  type Client,
  type DatasetFile,
  isStatusError,
  type StatusError,
  type UploadOptions,
} from "../../index.js";
import { type CheckBefore, changedSince, whyInvalid } from "../check/beforeUpload.js";
import { type CheckpointFile, waitOptionsOf, withFiles } from "../checkpoints/checkpointFile.js";
import { type Row, type RowSource, realName } from "../checkpoints/readRows.js";
import { FileChanged } from "../checkpoints/rescueFile.js";
import type { RowSink } from "../checkpoints/rowWriter.js";
import { type Context, type DryRun, orUndefined, Reported, RunEnded, UsageError } from "../context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "../exitCodes.js";
import {
  counted,
  createProgress,
  jsonLine,
  oneLine,
  type ProgressLine,
  storedLine,
  type Terminal,
  Unwritable,
} from "../terminal.js";
import { withClient } from "../withClient.js";
import { errorFields } from "./bulkResults.js";
import { namingLost } from "./lostUploads.js";
import { type PlannedFile, planUploads, readUploads, refuseSameNames, uploadStateOf } from "./uploadPlan.js";

/** The options of `upload` that are about several files. */
export interface ManyOptions extends CheckBefore {
  readonly checkpoint?: string;
  readonly wait?: boolean;
  readonly resendUnknown?: boolean;
  readonly verify?: boolean;
  readonly concurrency?: number;
}

interface UploadOutcome {
  readonly file: string;
  readonly outcome:
    | "uploaded"
    | "to upload"
    | "uploaded before"
    | "failed"
    | "unknown"
    | "not sent"
    | "invalid";
  readonly result?: unknown;
  readonly bytes?: number;
  readonly error?: unknown;
}

// Error codes that every following upload would end with, too.
const lasting = new Set<string>(["UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "CANCELLED"]);

/** `tunerank upload DATASET FILE FILE...`: sends as many files at once as `--concurrency` says. */
export async function uploadMany(context: Context<ManyOptions & { name?: string }>): Promise<void> {
  const { args, options } = context;
  const [dataset = "", ...files] = args;
  const { name, concurrency = 1 } = options;
  if (name !== undefined) throw new UsageError("--name is for one file, without --checkpoint.");
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new UsageError("--concurrency must be a whole number of at least 1.");
  const upload = async (client: Client): Promise<void> => {
    const sources: RowSource[] = [];
    if (options.checkpoint !== undefined)
      sources.push({
        path: realName(options.checkpoint, "--checkpoint"),
        option: "--checkpoint",
        kind: "upload checkpoint",
      });
    const sent = new Map<string, string>();
    const run = withFiles(sources, waitOptionsOf(context, options.wait), async ([owned], signal) => {
      const planned = await planUploads(files, dataset, await readUploads(owned), signal);
      for (const { id, file, before } of planned) if (uploadStateOf(before) !== "not") sent.set(id, file);
      await uploadAll({ ...context, signal }, client, planned, { owned, sent });
    });
    await run.catch((error) => {
      throw error instanceof FileChanged ? namingLost(error, sent) : error;
    });
  };
  await withClient(context, "uploadDatasetFile", upload, Math.max(defaultConnections, concurrency));
}

/** Where the outcome of an upload is recorded, and how its progress is shown. */
interface Recording {
  readonly owned: CheckpointFile | undefined;
  /** The files that are stored, or may be, by their ids in the checkpoint. */
  readonly sent: Map<string, string>;
  readonly rows: RowSink | undefined;
  readonly show: (file: PlannedFile, sentBytes: number) => void;
}

async function uploadAll(
  context: Context<ManyOptions>,
  client: Client,
  planned: readonly PlannedFile[],
  kept: Pick<Recording, "owned" | "sent">,
): Promise<void> {
  const { options, terminal, signal } = context;
  const due = planned.filter(({ before }) => isDue(before, options));
  refuseSameNames(planned, due);
  const invalid = await invalidOf(due, context);
  const wanted = due.filter((each) => !invalid.has(each));
  const progress = createProgress(terminal);
  const recording = { ...kept, rows: kept.owned?.open(), show: shownTogether(wanted, progress) };
  const results = new Map<PlannedFile, DatasetFile | StatusError>();
  const ended = await runBatches({
    ...{ batches: wanted.length, concurrency: options.concurrency ?? 1, untilDeadline: false, signal },
    timeoutMs: Number.POSITIVE_INFINITY,
    // Uploads that are in flight still finish after an error of another upload ends the command.
    async run(batch, _, lane) {
      const each = wanted[batch] as PlannedFile;
      const result = await uploadOne(context, { client, lane }, each, recording);
      results.set(each, result);
      if (isStatusError(result) && endsAll(result)) throw result;
    },
  });
  progress.end();
  if (ended && !isStatusError(ended.error)) throw ended.error;
  const outcomes = planned.map(
    (each) => invalid.get(each) ?? outcomeOf(each, results.get(each), due.includes(each)),
  );
  if (context.dryRun) tellPlan(context.dryRun, outcomes, planned);
  else print(outcomes, terminal, whyNotSent(signal, ended?.error));
  if (signal.aborted && outcomes.some(({ outcome }) => /^(failed|not sent)$/.test(outcome)))
    throw interruptedAt(outcomes, options.checkpoint !== undefined);
  // The exit code for usage errors says that nothing was sent, neither now nor by an earlier start of the same command.
  const isSent = outcomes.some(({ outcome }) => /^(uploaded|unknown)/.test(outcome));
  reportWorst([...wanted.map((each) => results.get(each)), ended?.error], isSent);
  reportHeldBack(outcomes, isSent);
}

/** Sets the exit code if files were not sent: invalid ones, or files that may be stored already. @throws Reported */
function reportHeldBack(outcomes: readonly UploadOutcome[], isSent: boolean): void {
  const isThere = (held: UploadOutcome["outcome"]) => outcomes.some(({ outcome }) => outcome === held);
  // Invalid files set the same exit code as invalid lines do in a bulk run, unless nothing was sent.
  if (isThere("invalid")) throw new Reported(isSent ? exitCodeOf.INVALID_ARGUMENT : exitCodes.usage);
  if (isThere("unknown")) throw new Reported(exitCodeOf.FAILED_PRECONDITION);
}

function interruptedAt(outcomes: readonly UploadOutcome[], isContinued: boolean): RunEnded {
  const done = outcomes.filter(({ outcome }) => /^uploaded/.test(outcome)).length;
  const maybe = outcomes.filter(mayBeStored).length;
  const text = `${done} of ${outcomes.length} files uploaded; ${howToGoOn(maybe, outcomes.length - done - maybe, isContinued)}`;
  return new RunEnded("Interrupted", exitCodes.interrupted, { done, of: outcomes.length, text });
}

// Whether a file may be stored although no response says so.
function mayBeStored({ outcome, error }: UploadOutcome): boolean {
  const { executed } = (error ?? {}) as Partial<StatusError>;
  return outcome === "unknown" || (outcome === "failed" && executed !== "no");
}

// Says how to continue interrupted uploads: `maybe` files may be stored already, `others` are left to send.
function howToGoOn(maybe: number, others: number, isContinued: boolean): string {
  if (maybe === 0) return isContinued ? "the same command continues." : "name the others to go on.";
  const it = maybe === 1 ? "it" : "them";
  const again = isContinued ? "add --resend-unknown" : `name ${it} again`;
  const rest = isContinued ? "The same command sends the others." : "Name the others to go on.";
  const advice = `${counted(maybe, "file")} may be stored: look at the dataset, and then ${again}, or leave ${it} out.`;
  return others > 0 ? `${advice} ${rest}` : advice;
}

// Whether a file is to be sent, judged by the row that an earlier run wrote.
function isDue(before: Row | undefined, { resendUnknown }: ManyOptions): boolean {
  const state = uploadStateOf(before);
  return state === "not" || (state === "unknown" && resendUnknown === true);
}

// Checks every file before the first is sent, and returns the invalid ones.
async function invalidOf(
  files: readonly PlannedFile[],
  context: Context<ManyOptions>,
): Promise<ReadonlyMap<PlannedFile, UploadOutcome>> {
  const invalid = new Map<PlannedFile, UploadOutcome>();
  for (const each of files) {
    const message = await whyInvalid(each.file, each.file, context);
    if (message !== undefined) invalid.set(each, { file: each.file, outcome: "invalid", error: { message } });
  }
  return invalid;
}

/**
 * Ends the command with the exit code of the last failure.
 * @param results The results of the planned uploads, in order, then the error that ended the command, if any
 * @param isAnySent Whether a file is stored, or may be
 * @throws Reported if an upload failed
 */
function reportWorst(results: readonly unknown[], isAnySent: boolean): void {
  const failed = results.filter((each) => isStatusError(each));
  const last = failed.at(-1);
  const isSent = isAnySent || failed.some(({ attempts }) => attempts.length > 0);
  if (last === undefined) return;
  const exit = exitCodeOfError(last);
  if (exit !== exitCodes.usage || !isSent) throw new Reported(exit);
  // Not the exit code for usage errors, which would say that nothing was sent. A file that is too large gets the code
  // for invalid input; a file that is missing or has changed gets the general one.
  throw new Reported(last.code === "OUT_OF_RANGE" ? exitCodeOf.OUT_OF_RANGE : exitCodes.fault);
}

// Returns a function that takes the progress of each file, and shows one progress line for all files.
function shownTogether(wanted: readonly PlannedFile[], progress: ProgressLine): Recording["show"] {
  const totalBytes = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const shown = new Map<PlannedFile, number>();
  let total = 0;
  return (file, sentBytes) => {
    total += sentBytes - (shown.get(file) ?? 0);
    shown.set(file, sentBytes);
    progress.show({ sentBytes: total, totalBytes });
  };
}

function endsAll({ code, notRetried }: StatusError): boolean {
  return lasting.has(code) || notRetried === "asked-to-wait-too-long";
}

function outcomeOf(
  { file, before }: PlannedFile,
  result: DatasetFile | StatusError | undefined,
  isWanted: boolean,
): UploadOutcome {
  if (isStatusError(result))
    return {
      file,
      outcome: "failed",
      error: errorFields(result, "upload"),
    };
  if (result) return { file, outcome: "uploaded", result };
  if (isWanted) return { file, outcome: "not sent" };
  return uploadStateOf(before) === "stored"
    ? { file, outcome: "uploaded before", result: before?.response }
    : { file, outcome: "unknown" };
}

async function uploadOne(
  { args: [dataset = ""], options, signal }: Context<ManyOptions>,
  { client, lane }: { readonly client: Client; readonly lane: Lane },
  planned: PlannedFile,
  { owned, sent, rows, show }: Recording,
): Promise<DatasetFile | StatusError> {
  const { file, id, fingerprint, state } = planned;
  const changed = changedSince(file, state);
  if (changed !== undefined) return changed;
  beginRow(planned, rows);
  // Throws if another run took the checkpoint over while this process was suspended: that run may have sent this file.
  owned?.check();
  const uploadOptions: UploadOptions & { [attemptPolicy]: Lane } = {
    verifyBytes: options.verify === true,
    onProgress: ({ sentBytes }) => show(planned, sentBytes),
    signal,
    // The lanes of all uploads belong to one schedule: if the service asks one upload to wait, all of them pause.
    [attemptPolicy]: lane,
  };
  try {
    const response = await client.datasets.upload(dataset, file, uploadOptions);
    sent.set(id, file);
    addStored(response, planned, rows);
    return response;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    if (error.executed !== "no") sent.set(id, file);
    rows?.add({ id, fingerprint, error: errorFields(error, "upload") });
    return error;
  }
}

/**
 * Writes the row of an upload that begins. It is on the disk before the upload begins, so that even after a crash the
 * file is known to be perhaps stored.
 */
function beginRow({ id, fingerprint }: PlannedFile, rows: RowSink | undefined): void {
  try {
    rows?.add({ id, fingerprint, sending: true });
    rows?.flush();
  } catch (error) {
    // The row above may have been written all the same, to the checkpoint or to the file that stands in for it (see
    // RescueFile). A second row corrects the first: the file was not sent.
    const unsent = { code: "ABORTED", message: "It was not sent.", executed: "no" };
    orUndefined(() => rows?.add({ id, fingerprint, error: unsent }));
    throw error;
  }
}

/** Writes the row of a stored file. If its response cannot be written, the row has only the plain fields of it. */
function addStored(response: DatasetFile, { id, fingerprint }: PlannedFile, rows: RowSink | undefined): void {
  try {
    rows?.add({ id, fingerprint, response });
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    rows?.add({ id, fingerprint, response: plainFields(response) });
  }
}

// The fields of a response that are no lists or objects, such as its id: they can always be written.
function plainFields(response: unknown): object {
  return Object.fromEntries(
    Object.entries(Object(response)).filter(([, value]) => typeof value !== "object"),
  );
}

function print(outcomes: readonly UploadOutcome[], terminal: Terminal, why: string): void {
  if (terminal.json) printJson(outcomes, terminal);
  else for (const line of linesOf(outcomes, why)) terminal.print(oneLine(line));
}

function printJson(outcomes: readonly UploadOutcome[], terminal: Terminal): void {
  try {
    terminal.print(jsonLine({ files: outcomes }));
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    const files = outcomes.map(({ result, ...others }) =>
      result === undefined ? others : { ...others, result: plainFields(result) },
    );
    terminal.print(jsonLine({ files }));
    const note = `${error.message} All files that are said to be uploaded are stored; of each result, fields that are lists or objects are left out.`;
    terminal.tell({ note }, note);
  }
}

// Why some files were not sent, as text for a message.
function whyNotSent({ aborted }: AbortSignal, error: unknown): string {
  if (aborted) return ", because the command was interrupted";
  return isStatusError(error) ? `, because ${error.code} would end every other upload too` : "";
}

// Prints what a dry run would upload. The responses are left out, because a dry run makes them up.
function tellPlan(dryRun: DryRun, outcomes: readonly UploadOutcome[], planned: readonly PlannedFile[]): void {
  const files = outcomes.map((each, index): UploadOutcome => {
    const { file, outcome } = each;
    return outcome === "uploaded" ? { file, outcome: "to upload", bytes: planned[index]?.bytes ?? 0 } : each;
  });
  dryRun.tell({ files }, linesOf(files));
}

function linesOf(outcomes: readonly UploadOutcome[], why = ""): readonly string[] {
  return outcomes.map(({ file, outcome, result, bytes = 0, error }) => {
    const line = storedLine(file, (result ?? {}) as Partial<DatasetFile>);
    const { message } = (error ?? {}) as { message?: string };
    const said = {
      uploaded: `Uploaded ${line}`,
      "to upload": `To upload: ${file}: ${counted(bytes, "byte")}.`,
      "uploaded before": `Uploaded before: ${line}`,
      failed: `Failed: ${file}: ${message}`,
      unknown: `Unknown: ${file} may be stored, and was not sent again. If the dataset has the file, leave it out of the command; if not, add --resend-unknown.`,
      invalid: `Invalid: ${file} was not sent: ${message} --no-check sends it as it is.`,
      "not sent": `Not sent: ${file}${why}.`,
    };
    return said[outcome];
  });
}
