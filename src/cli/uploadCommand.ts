// `tunerank upload DATASET FILE...`: checks all files, then sends them. With --checkpoint, each file has a row before its
// first byte is sent, so that no file is ever sent twice unasked.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import {
  attemptPolicy,
  checkFileName,
  defaultConnections,
  filePartOf,
  type Lane,
  runBatches,
} from "../engine.js";
import { requests } from "../generated/contract.js";
import { type Client, type DatasetFile, isStatusError, StatusError, type UploadOptions } from "../index.js";
import { checkFile } from "./checkCommand.js";
import { Checkpoint, realName } from "./checkpoint.js";
import { type Context, cannotRead, namingFile, Reported, RunEnded, UsageError } from "./context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exitCodes.js";
import { digestOf, fingerprintOf, IdTable, printOf } from "./ids.js";
import { isObject } from "./input.js";
import { errorFields } from "./reportFailure.js";
import { type Row, type Strength, strengths } from "./rows.js";
import { counted, createProgress, storedLine } from "./terminal.js";
import { withClient } from "./withClient.js";

interface UploadCommandOptions {
  readonly name?: string;
  readonly check?: boolean;
  readonly verify?: boolean;
  readonly checkpoint?: string;
  readonly concurrency?: number;
  readonly resendUnknown?: boolean;
}

/** A file to upload, and what became of it. */
interface Upload {
  readonly file: string;
  /** The file's name as the service gets it, without its folder. */
  readonly name: string;
  readonly bytes: number;
  /** The file's size and time of change before its content was hashed and checked. */
  readonly version: string;
  /** The dataset and the name that is sent. */
  readonly id: string;
  readonly fingerprint: string;
  outcome: "to upload" | "uploaded" | "uploaded before" | "failed" | "unknown" | "changed" | "invalid";
  result?: unknown;
  error?: StatusError;
  /** Why a file is invalid or changed. */
  problem?: string | undefined;
}

// Error codes that every following upload would end with, too.
const lasting = new Set<string>(["UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "CANCELLED"]);

/** Runs `tunerank upload DATASET FILE...`. */
export async function run(context: Context<UploadCommandOptions>): Promise<void> {
  const { args, options, dryRun } = context;
  const [dataset = "", ...files] = args;
  const { checkpoint: output, concurrency = 1, name } = options;
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new UsageError("--concurrency must be a whole number of at least 1.");
  if (name !== undefined && files.length > 1) throw new UsageError("--name is for one FILE.");
  if (output === undefined && options.resendUnknown)
    throw new UsageError("--resend-unknown has no effect without --checkpoint.");
  if (files.includes("-") && (files.length > 1 || output !== undefined))
    throw new UsageError("The standard input can be uploaded only alone, without --checkpoint.");
  if (files[0] === "-" && name === undefined)
    throw new UsageError("The standard input has no name: give one with --name NAME.");
  const stop = context.grace();
  const temporary = files[0] === "-" ? await storedInput(context.signal) : undefined;
  let checkpoint: Checkpoint | undefined;
  let isMerged = false;
  try {
    if (output !== undefined)
      checkpoint = await Checkpoint.open(
        { path: output, option: "--checkpoint", strengthOf },
        dryRun !== undefined,
        context.signal,
      );
    const uploads = await planned(
      { ...context, args: [dataset, ...(temporary ? [temporary] : files)] },
      checkpoint,
    );
    await withClient(
      context,
      "uploadDatasetFile",
      (client) => sendAll(context, stop, { client, uploads, checkpoint }),
      Math.max(defaultConnections, concurrency),
    );
    const asked = new IdTable();
    for (const { id, fingerprint } of uploads) asked.add(digestOf(JSON.stringify(id)), printOf(fingerprint));
    isMerged = true;
    await checkpoint?.end(
      asked,
      uploads.every(({ outcome }) => outcome.startsWith("uploaded")),
    );
    report(uploads, context, stop.aborted);
  } finally {
    if (!isMerged) checkpoint?.discard();
    if (temporary !== undefined) await rm(path.dirname(temporary), { recursive: true });
  }
}

/** How strong a row of a checkpoint is. What may be stored counts as being sent. @throws UsageError */
function strengthOf({ id, response, error, sending }: Row): Strength | undefined {
  if (`${id}`.startsWith('["'))
    throw new UsageError(
      "--checkpoint is from an earlier version, which knew files by their paths. Name another file, and leave out the files that this one says are stored. Nothing was sent.",
    );
  if (isObject(response)) return typeof response.id === "string" ? strengths.result : strengths.sending;
  if (isObject(error)) return error.executed === "no" ? strengths.passing : strengths.sending;
  return sending === true ? strengths.sending : undefined;
}

const { maxFileBytes } = filePartOf(requests.uploadDatasetFile);

// Keeps the standard input in a temporary file, so that it is checked and sent as any file. @returns Its path
async function storedInput(signal: AbortSignal): Promise<string> {
  const file = path.join(await mkdtemp(path.join(tmpdir(), "tunerank-")), "input");
  let size = 0;
  try {
    await pipeline(
      process.stdin,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > maxFileBytes)
            throw new UsageError(
              `The standard input is larger than ${maxFileBytes} bytes. Nothing was sent.`,
            );
          yield chunk;
        }
      },
      createWriteStream(file),
      { signal },
    );
    if (size === 0) throw new UsageError("The standard input is empty: nothing was sent.");
    return file;
  } catch (error) {
    await rm(path.dirname(file), { recursive: true });
    throw cannotRead("The standard input", error, " Nothing was sent.");
  }
}

// Reads all files before anything is sent. @throws UsageError for a file that cannot be sent
async function planned(
  { args, options, terminal, signal }: Context<UploadCommandOptions>,
  checkpoint: Checkpoint | undefined,
): Promise<readonly Upload[]> {
  const [dataset = "", ...files] = args;
  const uploads: Upload[] = [];
  const own = options.checkpoint === undefined ? "" : realName(options.checkpoint, "--checkpoint");
  for (const file of files) {
    const shown = namingFile("FILE", file);
    const whole = realName(file, shown);
    if (whole === own || path.dirname(whole) === `${own}.parts`) {
      terminal.tell({ note: "checkpoint", file }, `${file} is left out: it is the checkpoint.`);
      continue;
    }
    const stats = statSync(whole, { throwIfNoEntry: false });
    if (!stats) throw new UsageError(`${shown} cannot be found: nothing was sent.`);
    if (!stats.isFile())
      throw new UsageError(`${shown} is ${stats.isDirectory() ? "a folder" : "no file"}: nothing was sent.`);
    const name = checkFileName(options.name ?? file, shown);
    const other = uploads.find((each) => each.name === name);
    // It is not documented what a dataset does with a second file of the same name.
    if (other !== undefined)
      throw new UsageError(
        `${other.file} and ${file} would both arrive as "${name}", and the second may replace the first: rename one, or upload it alone with --name. Nothing was sent.`,
      );
    const version = versionOf(file);
    const id = `${dataset}/${name}`;
    // Without a checkpoint, nobody compares the content.
    const fingerprint = checkpoint === undefined ? "" : fingerprintOf([await hashOf(file, shown, signal)]);
    const upload: Upload = { file, name, bytes: stats.size, version, id, fingerprint, outcome: "to upload" };
    const key = JSON.stringify(id);
    const asked = { key, hash: digestOf(key), fingerprint };
    const state = checkpoint?.known.find(asked);
    if (state === strengths.result) {
      upload.outcome = "uploaded before";
      upload.result = checkpoint?.known.rowOf(asked)?.response;
    } else if (state === strengths.sending && !options.resendUnknown) upload.outcome = "unknown";
    else if (state === "changed") {
      upload.outcome = "changed";
      upload.problem = `another file was sent as "${name}", or its content has changed since. To send it too: tunerank upload ${dataset} ${file} --name NEW`;
    } else if (
      options.check !== false &&
      /\.(jsonl|ndjson)(\.gz)?$/i.test(name) &&
      stats.size <= maxFileBytes
    ) {
      const { invalid, problem } = await checkFile(file, signal);
      const [first] = invalid.first;
      upload.problem =
        problem ??
        (first &&
          `line ${first.line}: ${first.reason}${invalid.lines > 1 ? `, and ${counted(invalid.lines - 1, "line")} more` : ""}`);
      if (upload.problem !== undefined) upload.outcome = "invalid";
    }
    uploads.push(upload);
  }
  return uploads;
}

function versionOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return `${found?.size} ${found?.mtimeNs}`;
}

async function hashOf(file: string, shown: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(file, { signal, highWaterMark: 1024 * 1024 }))
      hash.update(chunk);
  } catch (error) {
    throw cannotRead(shown, error, " Nothing was sent.");
  }
  return hash.digest("hex");
}

interface Sending {
  readonly client: Client;
  readonly uploads: readonly Upload[];
  readonly checkpoint: Checkpoint | undefined;
}

async function sendAll(
  context: Context<UploadCommandOptions>,
  stop: AbortSignal,
  { client, uploads, checkpoint }: Sending,
): Promise<void> {
  const { args, options, terminal, signal } = context;
  const wanted = uploads.filter(({ outcome }) => outcome === "to upload");
  const progress = createProgress(terminal);
  const totalBytes = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const sent = new Map<Upload, number>();
  const ended = await runBatches({
    ...{ batches: wanted.length, concurrency: options.concurrency ?? 1, untilDeadline: false, signal, stop },
    ...{ timeoutMs: Number.POSITIVE_INFINITY, calls: [] },
    // Uploads that are in flight still finish after an error of another upload ends the command.
    async run(batch: number, _: unknown, lane: Lane) {
      const upload = wanted[batch] as Upload;
      const { id, fingerprint } = upload;
      const uploadOptions: UploadOptions & { [attemptPolicy]: Lane } = {
        ...{ name: upload.name, verifyBytes: options.verify === true, signal },
        onProgress: ({ sentBytes }) => {
          sent.set(upload, sentBytes);
          progress.show({ sentBytes: [...sent.values()].reduce((sum, bytes) => sum + bytes, 0), totalBytes });
        },
        // If the service asks one upload to wait, all of them pause.
        [attemptPolicy]: lane,
      };
      try {
        if (versionOf(upload.file) !== upload.version) throw changedError();
        checkpoint?.add({ id, fingerprint, sending: true });
        // On the disk before the first byte is sent: after a crash, the file is known to be perhaps stored.
        checkpoint?.sync();
        const response = await client.datasets.upload(args[0] ?? "", upload.file, uploadOptions);
        Object.assign(upload, { outcome: "uploaded", result: response });
        checkpoint?.add({ id, fingerprint, response: plainFields(response) });
      } catch (error) {
        const { executed, code, message } = isStatusError(error) ? error : unsent(error);
        checkpoint?.add({ id, fingerprint, error: { code, message, executed } });
        if (!isStatusError(error)) throw error;
        Object.assign(upload, { outcome: "failed", error });
        if (lasting.has(error.code) || error.notRetried === "asked-to-wait-too-long") throw error;
      }
    },
  });
  progress.end();
  if (ended && !isStatusError(ended.error)) throw ended.error;
}

function changedError(): StatusError {
  return new StatusError("The file changed after the command began, and was not sent.", {
    ...{ code: "FAILED_PRECONDITION", executed: "no", codeSource: "client", operation: "uploadDatasetFile" },
    hint: "Upload it again once no other program writes to it.",
  });
}

function unsent(error: unknown): Pick<StatusError, "code" | "executed" | "message"> {
  return { code: "ABORTED", executed: "no", message: `It was not sent: ${(error as Error).message}` };
}

// The fields of a response that are no lists or objects, such as its id: they can always be written.
function plainFields(response: unknown): object {
  return Object.fromEntries(
    Object.entries(Object(response)).filter(([, value]) => typeof value !== "object"),
  );
}

// Prints what became of each file, and ends the command with the exit code of the last failure. @throws Reported
function report(
  uploads: readonly Upload[],
  { args, options, terminal, dryRun }: Context<UploadCommandOptions>,
  isStopped: boolean,
): void {
  const [first] = uploads;
  const has = (...outcomes: readonly Upload["outcome"][]): boolean =>
    uploads.some(({ outcome }) => outcomes.includes(outcome));
  if (args.length === 2 && options.checkpoint === undefined && first !== undefined && !dryRun) {
    const { error, outcome, problem, name, result } = first;
    if (error !== undefined) throw error;
    if (outcome === "invalid")
      throw new UsageError(
        `${namingFile("FILE", args[1] ?? "")} is invalid: ${problem} Nothing was sent; --no-check sends it as it is.`,
      );
    const { filename = name } = result as Partial<DatasetFile>;
    terminal.result(result, `Uploaded ${storedLine(filename, result as Partial<DatasetFile>)}`);
    return;
  }
  const shown = uploads.map(({ file, outcome, bytes, result, error, problem }) => {
    const isLeft = outcome === "to upload" && !dryRun;
    return {
      ...{ file, outcome: isLeft ? "not sent" : outcome, result, problem },
      ...(outcome === "to upload" && { bytes }),
      ...(error && { error: errorFields(error, "upload") }),
    };
  });
  const lines = uploads.map(({ file, outcome, bytes, result, error, problem }) => {
    const stored = storedLine(file, (result ?? {}) as Partial<DatasetFile>);
    const { message } = error ? errorFields(error, "upload") : {};
    return {
      "to upload": dryRun ? `To upload: ${file}: ${counted(bytes, "byte")}.` : `Not sent: ${file}.`,
      uploaded: `Uploaded ${stored}`,
      "uploaded before": `Uploaded before: ${stored}`,
      failed: `Failed: ${file}: ${message}`,
      unknown: `Unknown: ${file} may be stored, and was not sent again. If the dataset has the file, leave it out of the command; if not, add --resend-unknown.`,
      changed: `Held back: ${file}: ${problem}`,
      invalid: `Invalid: ${file} was not sent: ${problem} --no-check sends it as it is.`,
    }[outcome];
  });
  if (dryRun) dryRun.tell({ files: shown }, lines);
  else if (terminal.json) terminal.printJson({ files: shown });
  else for (const line of lines) terminal.print(line);
  const isSent =
    has("uploaded", "uploaded before", "unknown") ||
    uploads.some(({ error }) => error && error.attempts.length > 0);
  if (isStopped && has("to upload", "failed")) {
    const done = uploads.filter(({ outcome }) => outcome.startsWith("uploaded")).length;
    const next = options.checkpoint === undefined ? "name the others to go on" : "the same command continues";
    const progress = {
      done,
      of: uploads.length,
      text: `${done} of ${uploads.length} files uploaded; ${next}.`,
    };
    throw new RunEnded("Interrupted", exitCodes.interrupted, progress);
  }
  const last = uploads.flatMap(({ error }) => error ?? []).at(-1);
  // The exit code for usage errors says that nothing was sent, neither now nor by an earlier start of the same command.
  const exit = last && exitCodeOfError(last);
  if (exit !== undefined)
    throw new Reported(
      exit !== exitCodes.usage || !isSent
        ? exit
        : last?.code === "OUT_OF_RANGE"
          ? exitCodeOf.OUT_OF_RANGE
          : exitCodes.fault,
    );
  if (has("invalid")) throw new Reported(isSent ? exitCodeOf.INVALID_ARGUMENT : exitCodes.usage);
  if (has("unknown", "changed")) throw new Reported(exitCodeOf.FAILED_PRECONDITION);
}
