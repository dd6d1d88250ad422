// `tunerank upload DATASET FILE...`: checks all files, then sends them. With --checkpoint, each file has a row before its
// first byte is sent, so that no file is ever sent twice unasked.
import { createHash } from "node:crypto";
import { createReadStream, realpathSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { attemptPolicy, checkFileName, defaultConnections, filePartOf, runBatches } from "../engine.js";
import { requests } from "../generated/contract.js";
import { type Client, type DatasetFile, isStatusError, StatusError, type UploadProgress } from "../index.js";
import { checkFile } from "./checkCommand.js";
import { Checkpoint } from "./checkpoint.js";
import { type Context, cannotRead, namingFile, RunEnded, UsageError } from "./context.js";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exitCodes.js";
import { isObject, openInput } from "./input.js";
import { errorFields } from "./reportFailure.js";
import { type AskedRow, fingerprintOf, hashesOf, type Row, type Strength, strengths } from "./rows.js";
import { counted, Progress } from "./terminal.js";
import { withClient } from "./withClient.js";

/** A file to upload, and its outcome. Its id is the dataset and the name that is sent. */
interface Upload extends AskedRow {
  readonly id: string;
  readonly file: string;
  /** The file's name as the service gets it, without its folder. */
  readonly name: string;
  readonly bytes: number;
  /** The file's size and time of change before its content was read. */
  readonly version: string;
  sentBytes: number;
  /** Its outcome for programs, and for people. */
  outcome: string;
  said: string;
  result?: Partial<DatasetFile> | undefined;
  error?: StatusError;
  /** Why a file is invalid or changed. */
  problem?: string | undefined;
}

type UploadContext = Context &
  Readonly<{ stop: AbortSignal; files: readonly string[]; checkpoint: Checkpoint | undefined }>;

const { maxFileBytes } = filePartOf(requests.uploadDatasetFile);
// Error codes that every following upload would end with, too.
const lasting = new Set<string>(["UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "CANCELLED"]);

export async function run(context: Context): Promise<void> {
  const { args, options, dryRun, signal } = context;
  const [dataset = "", ...files] = args;
  const { checkpoint: output, name } = options;
  const concurrency = Number(options.concurrency ?? 1);
  const isPipe = files.includes("-");
  const isWhole = Number.isInteger(concurrency) && concurrency >= 1;
  if (!isWhole) throw new UsageError("--concurrency must be a whole number of at least 1.");
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
    if (output !== undefined) {
      const source = { path: output, option: "--checkpoint", strengthOf };
      checkpoint = await Checkpoint.open(source, dryRun !== undefined, signal);
    }
    const own = { ...context, stop, files: temporary ? [temporary] : files, checkpoint };
    const uploads = await planned(own, dataset);
    const connections = Math.max(defaultConnections, concurrency);
    await withClient(context, "uploadDatasetFile", (client) => sendAll(own, client, uploads), connections);
    await checkpoint?.end(uploads.every(({ outcome }) => outcome.startsWith("uploaded")));
    if (checkpoint?.failure !== undefined) throw checkpoint.failure;
    report(own, uploads);
  } finally {
    checkpoint?.close();
    if (temporary !== undefined) await rm(path.dirname(temporary), { recursive: true });
  }
}

// The responses of the files that a checkpoint has as stored, by the ids and fingerprints of their rows.
const stored = new Map<string, Partial<DatasetFile>>();

/** How strong a row of a checkpoint is. What may be stored counts as being sent. @throws UsageError */
function strengthOf({ id, fingerprint, response, error, sending }: Row): Strength | undefined {
  if (`${id}`.startsWith('["'))
    throw new UsageError(
      "--checkpoint is from an earlier version, which knew files by their paths. Name another file, and leave out the files that this one says are stored. Nothing was sent.",
    );
  if (!/^[^/]+\/[^/]+$/.test(`${id}`)) return undefined;
  const isStored = isObject(response) && typeof response.id === "string";
  if (isStored) stored.set(`${id} ${fingerprint}`, response);
  if (isObject(response)) return isStored ? strengths.result : strengths.sending;
  if (isObject(error)) return error.executed === "no" ? strengths.passing : strengths.sending;
  return sending === true ? strengths.sending : undefined;
}

// Keeps the standard input in a temporary file, so that it is checked and sent as any file. @returns Its path
async function storedInput(signal: AbortSignal): Promise<string> {
  const input = await openInput("-", "The standard input", undefined, signal);
  const bytes = await input.bytes();
  if (bytes.length === 0) throw new UsageError("The standard input is empty: nothing was sent.");
  const file = path.join(await mkdtemp(path.join(tmpdir(), "tunerank-")), "input");
  await writeFile(file, bytes);
  return file;
}

// Reads all files before anything is sent. @throws UsageError for a file that cannot be sent
async function planned(
  { files, checkpoint, options, terminal, signal }: UploadContext,
  dataset: string,
): Promise<readonly Upload[]> {
  const uploads: Upload[] = [];
  for (const file of files) {
    const shown = namingFile("FILE", file);
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats?.isFile())
      throw new UsageError(`${shown} ${stats ? "is not a file" : "cannot be found"}: nothing was sent.`);
    if (checkpoint?.owns(realpathSync(file))) {
      terminal.tell({ note: "checkpoint", file }, `${file} is left out: it belongs to the checkpoint.`);
      continue;
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
    const hash = createHash("sha256").setEncoding("hex");
    if (checkpoint !== undefined)
      await pipeline(createReadStream(file), hash, { signal }).catch((error) => {
        throw cannotRead(shown, error, " Nothing was sent.");
      });
    const fingerprint = checkpoint ? fingerprintOf([hash.read()]) : "";
    const result = stored.get(`${id} ${fingerprint}`);
    const fixed = { ...hashesOf(id), id, fingerprint, file, name, bytes: stats.size, version, result };
    const upload: Upload = { ...fixed, sentBytes: 0, outcome: "not sent", said: `Not sent: ${file}.` };
    uploads.push(upload);
    const end = (outcome: string, said: string, problem?: string): Upload =>
      Object.assign(upload, { outcome, said, problem });
    const state = checkpoint?.ask(upload);
    if (state === strengths.result) end("uploaded before", `Uploaded before: ${file}: file ${result?.id}.`);
    else if (state === strengths.sending && !options.resendUnknown)
      end(
        "unknown",
        `Unknown: ${file} may be stored, and was not sent again. If the dataset has the file, leave it out of the command; if not, add --resend-unknown.`,
      );
    else if (state === "changed") {
      const problem = `another content was sent as "${name}". To send this one too: tunerank upload ${dataset} ${file} --name NEW`;
      end("changed", `Held back: ${file}: ${problem}`, problem);
    } else if (!options.noCheck && /\.(jsonl|ndjson)(\.gz)?$/i.test(name) && stats.size <= maxFileBytes) {
      const { invalid, problem } = await checkFile(file, signal);
      const [first] = invalid.first;
      const more = invalid.lines > 1 ? `, and ${counted(invalid.lines - 1, "line")} more` : "";
      const wrong = problem ?? (first && `line ${first.line}: ${first.reason}${more}.`);
      const said = `Invalid: ${file} was not sent: ${wrong} --no-check sends it as it is.`;
      if (wrong !== undefined) end("invalid", said, wrong);
    }
  }
  return uploads;
}

function versionOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return `${found?.size} ${found?.mtimeNs}`;
}

async function sendAll(
  { args, options, terminal, signal, stop, checkpoint, dryRun }: UploadContext,
  client: Client,
  uploads: readonly Upload[],
): Promise<void> {
  const wanted = uploads.filter(({ outcome }) => outcome === "not sent");
  const progress = new Progress(terminal);
  const started = performance.now();
  const totalBytes = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  const update = (): void => {
    const sentBytes = wanted.reduce((sum, upload) => sum + upload.sentBytes, 0);
    if (!progress.isDue && !(progress.isDrawn && sentBytes === totalBytes)) return;
    const share = totalBytes === 0 ? 1 : sentBytes / totalBytes;
    const speed = (1000 * sentBytes) / Math.max(1, performance.now() - started);
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    const facts = `${percent}  ${megabytes(sentBytes)} of ${megabytes(totalBytes)}  ${megabytes(speed)}/s`;
    progress.show(share, facts, { sentBytes, totalBytes });
  };
  const ended = await runBatches({
    ...{ batches: wanted.length, untilDeadline: false, timeoutMs: Number.POSITIVE_INFINITY, signal, stop },
    concurrency: Number(options.concurrency ?? 1),
    async run(batch, lane) {
      const upload = wanted[batch] as Upload;
      const { file, name, id, fingerprint } = upload;
      const onProgress = ({ sentBytes }: UploadProgress): void => {
        upload.sentBytes = sentBytes;
        update();
      };
      try {
        if (versionOf(file) !== upload.version) throw changed;
        checkpoint?.add({ id, fingerprint, sending: true });
        // On the disk before the first byte is sent: after a crash, the file is known to be perhaps stored.
        checkpoint?.sync();
        // The lane is shared: if the service asks one upload to wait, all of them pause.
        const own = { name, verifyBytes: options.verify === true, signal, onProgress, [attemptPolicy]: lane };
        const response = await client.datasets.upload(args[0] ?? "", file, own);
        const { bytes, filename = name } = response as Partial<DatasetFile>;
        const size = typeof bytes === "number" ? `${bytes} bytes, ` : "";
        const shown = args.length === 2 && checkpoint === undefined ? filename : file;
        const said = `Uploaded ${shown}: ${size}file ${response.id}.`;
        const planned = `To upload: ${file}: ${counted(upload.bytes, "byte")}.`;
        // A dry run makes the response up.
        if (dryRun) Object.assign(upload, { outcome: "to upload", said: planned });
        else Object.assign(upload, { outcome: "uploaded", said, result: response });
        checkpoint?.add({ id, fingerprint, response: { id: response.id, bytes: response.bytes } });
      } catch (error) {
        // Any other error, as of a row that cannot be written, comes before the upload.
        const failure = isStatusError(error) ? error : changed;
        const { code, message, executed } = failure;
        checkpoint?.add({ id, fingerprint, error: { code, message, executed } });
        if (error !== failure) throw error;
        const said = `Failed: ${file}: ${errorFields(failure, "upload").message}`;
        Object.assign(upload, { outcome: "failed", said, error });
        // Uploads that are in flight still finish after an error that would end every other one, too.
        if (lasting.has(code) || failure.notRetried === "asked-to-wait-too-long") throw error;
      }
    },
  });
  progress.end();
  if (ended && !isStatusError(ended.error)) throw ended.error;
}

const changed = new StatusError("The file changed after the command began, and was not sent.", {
  ...{ code: "FAILED_PRECONDITION", executed: "no", codeSource: "client", operation: "uploadDatasetFile" },
  hint: "Upload it again once no other program writes to it.",
});

// Prints the outcome of each file, and ends the command with the exit code of the last failure.
function report(
  { args, terminal, dryRun, stop, checkpoint }: UploadContext,
  uploads: readonly Upload[],
): void {
  const [only] = args.length === 2 && checkpoint === undefined && !dryRun ? uploads : [];
  if (only?.error !== undefined) throw only.error;
  if (only?.problem !== undefined)
    throw new UsageError(
      `${namingFile("FILE", args[1] ?? "")} is invalid: ${only.problem} Nothing was sent; --no-check sends it as it is.`,
    );
  const lines = uploads.map(({ said }) => said);
  const files = uploads.map(({ file, outcome, bytes, result, error, problem }) => ({
    ...{ file, outcome, bytes, problem, result },
    ...(error && { error: errorFields(error, "upload") }),
  }));
  if (dryRun) dryRun.tell({ files }, lines);
  else terminal.result(only?.result ?? { files }, lines);
  const has = (pattern: RegExp): boolean => uploads.some(({ outcome }) => pattern.test(outcome));
  if (stop.aborted && has(/^(not sent|failed)$/)) {
    const done = uploads.filter(({ outcome }) => outcome.startsWith("uploaded")).length;
    const next = checkpoint === undefined ? "name the others to go on" : "the same command continues";
    const text = `${done} of ${uploads.length} files uploaded; ${next}.`;
    throw new RunEnded(exitCodes.interrupted, { done, of: uploads.length, text }, "Interrupted");
  }
  const errors = uploads.flatMap(({ error }) => error ?? []);
  const last = errors.at(-1);
  const unsent = has(/^invalid/) ? exitCodes.usage : exitCodeOf.FAILED_PRECONDITION;
  let exitCode = last ? exitCodeOfError(last) : unsent;
  // Exit code 2 says that nothing was sent, neither now nor by an earlier start of the same command.
  const isSent = has(/^(uploaded|unknown)/) || errors.some(({ attempts }) => attempts.length > 0);
  if (exitCode === exitCodes.usage && isSent)
    exitCode = last && last.code !== "OUT_OF_RANGE" ? exitCodes.fault : exitCodeOf.INVALID_ARGUMENT;
  if (has(/^(failed|invalid|unknown|changed)/)) throw new RunEnded(exitCode);
}
