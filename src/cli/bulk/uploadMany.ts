import { type Client, type DatasetFile, isStatusError, type StatusError } from "../../index.js";
import type { AbortSignalLike } from "../../options/callOptions.js";
import { machineClock } from "../../policy/schedule.js";
import { type CheckpointFile, waitOptionsOf, withFiles } from "../checkpoints/checkpointFile.js";
import { type RowSource, realName } from "../checkpoints/readRows.js";
import type { RowWriter } from "../checkpoints/rowWriter.js";
import { type Context, Reported, UsageError } from "../context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "../exitCodes.js";
import { messageOf } from "../reportFailure.js";
import { jsonLine, oneLine } from "../safeText.js";
import type { Terminal } from "../terminal.js";
import { createProgress, storedLine } from "../uploadProgress.js";
import { withClient } from "../withClient.js";
import { errorFields } from "./resultRows.js";
import { type PlannedFile, planUploads, readUploads, uploadStateOf } from "./uploadPlan.js";

/** The options of `upload` that are about several files. */
export interface ManyOptions {
  readonly checkpoint?: string;
  readonly wait?: boolean;
  readonly resendUnknown?: boolean;
  readonly verify?: boolean;
}

/** What became of a file. */
interface UploadOutcome {
  readonly file: string;
  readonly outcome: "uploaded" | "uploaded before" | "failed" | "unknown" | "not sent";
  readonly result?: unknown;
  readonly error?: unknown;
}

// What ends one upload so would end the next.
const lasting = new Set<string>(["UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "CANCELLED"]);

/** `tunerank upload DATASET FILE FILE...`, one after the other */
export async function uploadMany(context: Context<ManyOptions & { name?: string }>): Promise<void> {
  const { args, options } = context;
  const [dataset = "", ...files] = args;
  if (options.name !== undefined) throw new UsageError("--name is for one file, without --checkpoint.");
  await withClient(context, "uploadDatasetFile", async (client) => {
    const sources: RowSource[] = [];
    if (options.checkpoint !== undefined)
      sources.push({ path: realName(options.checkpoint), option: "--checkpoint", kind: "upload checkpoint" });
    await withFiles(sources, waitOptionsOf(context, options.wait), async ([owned], signal) => {
      const planned = await planUploads(files, dataset, await readUploads(owned), signal);
      await uploadAll({ ...context, signal }, client, planned, owned);
    });
  });
}

/** Where an upload's outcome is noted, and how far it is shown. */
interface Recording {
  readonly owned: CheckpointFile | undefined;
  readonly rows: RowWriter | undefined;
  readonly show: (sentBytes: number) => void;
}

async function uploadAll(
  context: Context<ManyOptions>,
  client: Client,
  planned: readonly PlannedFile[],
  owned: CheckpointFile | undefined,
): Promise<void> {
  const { options, terminal } = context;
  const rows = owned?.open();
  const isWanted = ({ before }: PlannedFile): boolean =>
    uploadStateOf(before) === "not" ||
    (uploadStateOf(before) === "unknown" && options.resendUnknown === true);
  const progress = createProgress(terminal);
  const totalBytes = planned.filter(isWanted).reduce((sum, { bytes }) => sum + bytes, 0);
  const outcomes: UploadOutcome[] = [];
  let before = 0;
  let failed: StatusError | undefined;
  let isSent = false;
  let heldUntil = 0;
  for (const each of planned) {
    if (!isWanted(each) || (failed && endsAll(failed))) {
      outcomes.push(withoutSending(each, isWanted(each)));
      continue;
    }
    await passed(heldUntil - performance.now(), context.signal);
    const show = (sentBytes: number): void => progress.show({ sentBytes: before + sentBytes, totalBytes });
    const outcome = await uploadOne(context, client, each, { owned, rows, show });
    if (isStatusError(outcome)) failed = outcome;
    // What the service asks of one holds the next.
    heldUntil = performance.now() + ((isStatusError(outcome) && outcome.retryAfterMs) || 0);
    isSent ||= !isStatusError(outcome) || outcome.attempts.length > 0;
    outcomes.push(outcomeOf(each.file, outcome));
    before += each.bytes;
  }
  progress.end();
  print(outcomes, terminal);
  if (failed !== undefined) throw new Reported(exitCodeAfter(failed, isSent));
  if (outcomes.some(({ outcome }) => outcome === "unknown"))
    throw new Reported(exitCodeOf.FAILED_PRECONDITION);
}

function endsAll({ code, notRetried }: StatusError): boolean {
  return lasting.has(code) || notRetried === "asked-to-wait-too-long";
}

// Until the service takes the next, or the command is interrupted.
function passed(ms: number, signal: AbortSignalLike | undefined): Promise<void> {
  return new Promise((resolve) => {
    const unset = machineClock.after(ms, resolve);
    signal?.addEventListener("abort", () => {
      unset();
      resolve();
    });
  });
}

function outcomeOf(file: string, result: DatasetFile | StatusError): UploadOutcome {
  if (!isStatusError(result)) return { file, outcome: "uploaded", result };
  return { file, outcome: "failed", error: { ...errorFields(result), message: messageOf(result) } };
}

// A file that goes missing after others were sent is no fault of the command line.
function exitCodeAfter(failed: StatusError, isSent: boolean): number {
  const exit = exitCodeOfError(failed);
  return exit === exitCodes.usage && isSent ? exitCodes.fault : exit;
}

async function uploadOne(
  { args: [dataset = ""], options, signal }: Context<ManyOptions>,
  client: Client,
  { file, id, fingerprint }: PlannedFile,
  { owned, rows, show }: Recording,
): Promise<DatasetFile | StatusError> {
  rows?.add({ id, fingerprint, sending: true });
  // Known before it begins, whatever happens to the machine.
  rows?.flush();
  // Another run may have sent it while this one was asleep.
  owned?.check();
  try {
    const verifyBytes = options.verify === true;
    const onProgress = ({ sentBytes }: { sentBytes: number }): void => show(sentBytes);
    const response = await client.datasets.upload(dataset, file, { verifyBytes, onProgress, signal });
    rows?.add({ id, fingerprint, response });
    return response;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    rows?.add({ id, fingerprint, error: errorFields(error) });
    return error;
  }
}

function withoutSending({ file, before }: PlannedFile, isWanted: boolean): UploadOutcome {
  if (isWanted) return { file, outcome: "not sent" };
  return uploadStateOf(before) === "stored"
    ? { file, outcome: "uploaded before", result: before?.response }
    : { file, outcome: "unknown" };
}

function print(outcomes: readonly UploadOutcome[], terminal: Terminal): void {
  if (terminal.json) {
    terminal.print(jsonLine({ files: outcomes }));
    return;
  }
  for (const { file, outcome, result, error } of outcomes) {
    const line = storedLine(file, (result ?? {}) as Partial<DatasetFile>);
    const { message } = (error ?? {}) as { message?: string };
    const said = {
      uploaded: `Uploaded ${line}`,
      "uploaded before": `Uploaded before: ${line}`,
      failed: `Failed: ${file}: ${message}`,
      unknown: `Unknown: ${file} may be stored, and was not sent again. Look at the dataset, then leave it out or add --resend-unknown.`,
      "not sent": `Not sent: ${file}.`,
    };
    terminal.print(oneLine(said[outcome]));
  }
}
