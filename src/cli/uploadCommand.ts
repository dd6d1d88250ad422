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
import { type Client, type DatasetFile, isStatusError, StatusError } from "../index.js";
import { checkFile } from "./checkCommand.js";
import { Checkpoint } from "./checkpoint.js";
import { type Context, cannotRead, namingFile, Reported, RunEnded, UsageError } from "./context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exitCodes.js";
import { digestOf, fingerprintOf, IdTable, printOf } from "./ids.js";
import { isObject, realName } from "./input.js";
import { errorFields } from "./reportFailure.js";
import { type Row, type Strength, strengths } from "./rows.js";
import { counted, createProgress, storedLine } from "./terminal.js";
import { withClient } from "./withClient.js";

type UploadOptions = Partial<Record<"name" | "checkpoint", string>> &
  Partial<Record<"check" | "verify" | "resendUnknown", boolean>> & { readonly concurrency?: number };

/** A file to upload, and its outcome. */
interface Upload {
  readonly file: string;
  /** The file's name as the service gets it, without its folder. */
  readonly name: string;
  readonly bytes: number;
  /** The file's size and time of change before its content was read. */
  readonly version: string;
  /** The dataset and the name that is sent; with a checkpoint, a hash of the content. */
  readonly id: string;
  readonly fingerprint: string;
  outcome: "to upload" | "uploaded" | "uploaded before" | "failed" | "unknown" | "changed" | "invalid";
  result?: Partial<DatasetFile>;
  error?: StatusError;
  /** Why a file is invalid or changed. */
  problem?: string | undefined;
}

const { maxFileBytes } = filePartOf(requests.uploadDatasetFile);
// Error codes that every following upload would end with, too.
const lasting = new Set<string>(["UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "CANCELLED"]);

/** Runs `tunerank upload DATASET FILE...`. */
export async function run(context: Context<UploadOptions>): Promise<void> {
  const { args, options, dryRun, signal } = context;
  const [dataset = "", ...files] = args;
  const { checkpoint: output, concurrency = 1, name } = options;
  const isPipe = files.includes("-");
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new UsageError("--concurrency must be a whole number of at least 1.");
  if (name !== undefined && files.length > 1) throw new UsageError("--name is for one FILE.");
  if (output === undefined && options.resendUnknown)
    throw new UsageError("--resend-unknown has no effect without --checkpoint.");
  if (isPipe && (files.length > 1 || output !== undefined))
    throw new UsageError("The standard input can be uploaded only alone, without --checkpoint.");
  if (isPipe && name === undefined)
    throw new UsageError("The standard input has no name: give one with --name NAME.");
  const stop = context.grace();
  const temporary = isPipe ? await storedInput(signal) : undefined;
  let checkpoint: Checkpoint | undefined;
  try {
    if (output !== undefined)
      checkpoint = await Checkpoint.open(
        { path: output, option: "--checkpoint", strengthOf },
        dryRun !== undefined,
        signal,
      );
    const uploads = await planned(
      { ...context, args: [dataset, ...(temporary ? [temporary] : files)] },
      checkpoint,
    );
    const send = (client: Client): Promise<void> => sendAll(context, stop, client, uploads, checkpoint);
    await withClient(context, "uploadDatasetFile", send, Math.max(defaultConnections, concurrency));
    const asked = new IdTable();
    if (checkpoint !== undefined)
      for (const { id, fingerprint } of uploads)
        asked.add(digestOf(JSON.stringify(id)), printOf(fingerprint));
    await checkpoint?.end(
      asked,
      uploads.every(({ outcome }) => outcome.startsWith("uploaded")),
    );
    report(uploads, context, stop.aborted);
  } finally {
    checkpoint?.close();
    if (temporary !== undefined) await rm(path.dirname(temporary), { recursive: true });
  }
}

/** How strong a row of a checkpoint is. What may be stored counts as being sent. @throws UsageError */
function strengthOf({ id, response, error, sending }: Row): Strength | undefined {
  if (`${id}`.startsWith('["'))
    throw new UsageError(
      "--checkpoint is from an earlier version, which knew files by their paths. Name another file, and leave out the files that this one says are stored. Nothing was sent.",
    );
  if (!/^[^/]+\/[^/]+$/.test(`${id}`)) return undefined;
  if (isObject(response)) return typeof response.id === "string" ? strengths.result : strengths.sending;
  if (isObject(error)) return error.executed === "no" ? strengths.passing : strengths.sending;
  return sending === true ? strengths.sending : undefined;
}

// Keeps the standard input in a temporary file, so that it is checked and sent as any file. @returns Its path
async function storedInput(signal: AbortSignal): Promise<string> {
  const file = path.join(await mkdtemp(path.join(tmpdir(), "tunerank-")), "input");
  let size = 0;
  const counting = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > maxFileBytes)
        throw new UsageError(`The standard input has more than ${maxFileBytes} bytes: nothing was sent.`);
      yield chunk;
    }
    if (size === 0) throw new UsageError("The standard input is empty: nothing was sent.");
  };
  try {
    await pipeline(process.stdin, counting, createWriteStream(file), { signal });
    return file;
  } catch (error) {
    await rm(path.dirname(file), { recursive: true });
    throw cannotRead("The standard input", error, " Nothing was sent.");
  }
}

// Reads all files before anything is sent. @throws UsageError for a file that cannot be sent
async function planned(
  { args, options, terminal, signal }: Context<UploadOptions>,
  checkpoint: Checkpoint | undefined,
): Promise<readonly Upload[]> {
  const [dataset = "", ...files] = args;
  const uploads: Upload[] = [];
  const own = options.checkpoint === undefined ? "" : realName(options.checkpoint, "--checkpoint");
  for (const file of files) {
    const shown = namingFile("FILE", file);
    const whole = realName(file, shown);
    if (whole === own || path.dirname(whole) === `${own}.parts`) {
      terminal.tell({ note: "checkpoint", file }, `${file} is left out: it belongs to the checkpoint.`);
      continue;
    }
    const stats = statSync(whole, { throwIfNoEntry: false });
    if (!stats?.isFile()) {
      const what =
        stats === undefined ? "cannot be found" : stats.isDirectory() ? "is a folder" : "is no file";
      throw new UsageError(`${shown} ${what}: nothing was sent.`);
    }
    const name = checkFileName(options.name ?? file, shown);
    const other = uploads.find((each) => each.name === name);
    // It is not documented what a dataset does with a second file of the same name.
    if (other !== undefined)
      throw new UsageError(
        `${other.file} and ${file} would both arrive as "${name}", and the second may replace the first: rename one, or upload it alone with --name. Nothing was sent.`,
      );
    const version = versionOf(file);
    const id = `${dataset}/${name}`;
    const fingerprint = checkpoint === undefined ? "" : fingerprintOf([await hashOf(file, shown, signal)]);
    const upload: Upload = { file, name, bytes: stats.size, version, id, fingerprint, outcome: "to upload" };
    uploads.push(upload);
    const key = JSON.stringify(id);
    const asked = { key, hash: digestOf(key), fingerprint };
    const state = checkpoint?.known.find(asked);
    if (state === strengths.result) {
      const result = checkpoint?.known.rowOf(asked)?.response as Partial<DatasetFile>;
      Object.assign(upload, { outcome: "uploaded before", result });
    } else if (state === strengths.sending && !options.resendUnknown) upload.outcome = "unknown";
    else if (state === "changed") {
      const problem = `another content was sent as "${name}". To send this one too: tunerank upload ${dataset} ${file} --name NEW`;
      Object.assign(upload, { outcome: "changed", problem });
    } else if (
      options.check !== false &&
      /\.(jsonl|ndjson)(\.gz)?$/i.test(name) &&
      stats.size <= maxFileBytes
    ) {
      const { invalid, problem } = await checkFile(file, signal);
      const more = invalid.lines > 1 ? `, and ${counted(invalid.lines - 1, "line")} more` : "";
      const [first] = invalid.first;
      upload.problem = problem ?? (first && `line ${first.line}: ${first.reason}${more}.`);
      if (upload.problem !== undefined) upload.outcome = "invalid";
    }
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

async function sendAll(
  { args, options, terminal, signal }: Context<UploadOptions>,
  stop: AbortSignal,
  client: Client,
  uploads: readonly Upload[],
  checkpoint: Checkpoint | undefined,
): Promise<void> {
  const wanted = uploads.filter(({ outcome }) => outcome === "to upload");
  const progress = createProgress(terminal);
  const sent = new Map<Upload, number>();
  const sum = (sizes: Iterable<number>): number => [...sizes].reduce((all, bytes) => all + bytes, 0);
  const totalBytes = sum(wanted.map(({ bytes }) => bytes));
  const ended = await runBatches({
    ...{ batches: wanted.length, concurrency: options.concurrency ?? 1, untilDeadline: false, signal, stop },
    timeoutMs: Number.POSITIVE_INFINITY,
    async run(batch: number, lane: Lane) {
      const upload = wanted[batch] as Upload;
      const { file, name, id, fingerprint } = upload;
      const onProgress = ({ sentBytes }: { readonly sentBytes: number }): void => {
        sent.set(upload, sentBytes);
        progress.show({ sentBytes: sum(sent.values()), totalBytes });
      };
      try {
        if (versionOf(file) !== upload.version) throw changed;
        checkpoint?.add({ id, fingerprint, sending: true });
        // On the disk before the first byte is sent: after a crash, the file is known to be perhaps stored.
        checkpoint?.sync();
        // The lane is shared: if the service asks one upload to wait, all of them pause.
        const own = { name, verifyBytes: options.verify === true, signal, onProgress, [attemptPolicy]: lane };
        const response = await client.datasets.upload(args[0] ?? "", file, own);
        Object.assign(upload, { outcome: "uploaded", result: response });
        checkpoint?.add({ id, fingerprint, response: { id: response.id, bytes: response.bytes } });
      } catch (error) {
        const isFailed = isStatusError(error);
        const { code, message, executed } = isFailed ? error : unsent;
        checkpoint?.add({ id, fingerprint, error: { code, message, executed } });
        if (!isFailed) throw error;
        Object.assign(upload, { outcome: "failed", error });
        // Uploads that are in flight still finish after an error that would end every other one, too.
        if (lasting.has(code) || error.notRetried === "asked-to-wait-too-long") throw error;
      }
    },
  });
  progress.end();
  if (ended && !isStatusError(ended.error)) throw ended.error;
}

const unsent = { code: "ABORTED", message: "It was not sent.", executed: "no" } as const;
const changed = new StatusError("The file changed after the command began, and was not sent.", {
  ...{ code: "FAILED_PRECONDITION", executed: "no", codeSource: "client", operation: "uploadDatasetFile" },
  hint: "Upload it again once no other program writes to it.",
});

// Prints the outcome of each file, and ends the command with the exit code of the last failure. @throws Reported
function report(
  uploads: readonly Upload[],
  { args, options, terminal, dryRun }: Context<UploadOptions>,
  isStopped: boolean,
): void {
  const [only] = args.length === 2 && options.checkpoint === undefined && !dryRun ? uploads : [];
  if (only?.error !== undefined) throw only.error;
  if (only?.outcome === "invalid")
    throw new UsageError(
      `${namingFile("FILE", args[1] ?? "")} is invalid: ${only.problem} Nothing was sent; --no-check sends it as it is.`,
    );
  if (only?.result !== undefined) {
    const { result, name } = only;
    terminal.result(result, `Uploaded ${storedLine(result.filename ?? name, result)}`);
    return;
  }
  // A dry run makes the responses up.
  const shown = (outcome: Upload["outcome"]): Upload["outcome"] | "not sent" =>
    dryRun
      ? outcome === "uploaded"
        ? "to upload"
        : outcome
      : outcome === "to upload"
        ? "not sent"
        : outcome;
  const lines = uploads.map(({ file, outcome, bytes, result = {}, error, problem }) => {
    const stored = storedLine(file, result);
    return {
      "to upload": `To upload: ${file}: ${counted(bytes, "byte")}.`,
      "not sent": `Not sent: ${file}.`,
      uploaded: `Uploaded ${stored}`,
      "uploaded before": `Uploaded before: ${stored}`,
      failed: `Failed: ${file}: ${error && errorFields(error, "upload").message}`,
      unknown: `Unknown: ${file} may be stored, and was not sent again. If the dataset has the file, leave it out of the command; if not, add --resend-unknown.`,
      changed: `Held back: ${file}: ${problem}`,
      invalid: `Invalid: ${file} was not sent: ${problem} --no-check sends it as it is.`,
    }[shown(outcome)];
  });
  const files = uploads.map(({ file, outcome, bytes, result, error, problem }) => ({
    ...{ file, outcome: shown(outcome), bytes, problem, ...(!dryRun && { result }) },
    ...(error && { error: errorFields(error, "upload") }),
  }));
  if (dryRun) dryRun.tell({ files }, lines);
  else if (terminal.json) terminal.printJson({ files });
  else for (const line of lines) terminal.print(line);
  const has = (pattern: RegExp): boolean => uploads.some(({ outcome }) => pattern.test(outcome));
  const errors = uploads.flatMap(({ error }) => error ?? []);
  const isSent = has(/^(uploaded|unknown)/) || errors.some(({ attempts }) => attempts.length > 0);
  if (isStopped && has(/^(to upload|failed)$/)) {
    const done = uploads.filter(({ outcome }) => outcome.startsWith("uploaded")).length;
    const next = options.checkpoint === undefined ? "name the others to go on" : "the same command continues";
    const text = `${done} of ${uploads.length} files uploaded; ${next}.`;
    throw new RunEnded("Interrupted", exitCodes.interrupted, { done, of: uploads.length, text });
  }
  const last = errors.at(-1);
  const exit = last && exitCodeOfError(last);
  // Exit code 2 says that nothing was sent, neither now nor by an earlier start of the same command.
  const isFault = exit === exitCodes.usage && isSent;
  if (exit !== undefined)
    throw new Reported(
      !isFault ? exit : last?.code === "OUT_OF_RANGE" ? exitCodeOf.OUT_OF_RANGE : exitCodes.fault,
    );
  if (has(/^invalid/)) throw new Reported(isSent ? exitCodeOf.INVALID_ARGUMENT : exitCodes.usage);
  if (has(/^(unknown|changed)/)) throw new Reported(exitCodeOf.FAILED_PRECONDITION);
}
