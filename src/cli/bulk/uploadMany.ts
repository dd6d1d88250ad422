import { existsSync, realpathSync } from "node:fs";
import { type Client, type DatasetFile, isStatusError, type StatusError } from "../../index.js";
import { withClient } from "../client.js";
import { type Context, Reported, UsageError } from "../context.js";
import { exitCodeOf } from "../exitCodes.js";
import { createProgress } from "../progress.js";
import { jsonLine, oneLine } from "../safeText.js";
import { storedLine } from "../storedLine.js";
import type { Terminal } from "../terminal.js";
import { lock } from "./lock.js";
import { errorFields } from "./outcome.js";
import { RowFile } from "./rowFile.js";
import { fateOf, planUploads, readUploads, type UploadFile } from "./uploadPlan.js";

/** The options of `upload` that are about several files. */
export interface ManyOptions {
  readonly checkpoint?: string;
  readonly resendUnknown?: boolean;
  readonly verify?: boolean;
}

/** What became of a file. */
interface Outcome {
  readonly file: string;
  readonly outcome: "uploaded" | "uploaded before" | "failed" | "unknown" | "not sent";
  readonly result?: unknown;
  readonly error?: unknown;
}

// What ends one upload so would end the next.
const lasting: ReadonlySet<string> = new Set([
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "NOT_FOUND",
  "CANCELLED",
]);

/** `tunerank upload DATASET FILE FILE...`, one after the other */
export async function uploadMany(context: Context<ManyOptions & { name?: string }>): Promise<void> {
  const { args, options } = context;
  const [dataset = "", ...files] = args;
  if (options.name !== undefined) throw new UsageError("--name is for one file, without --checkpoint.");
  await withClient(context, "uploadDatasetFile", async (client) => {
    const { checkpoint } = options;
    const path = checkpoint !== undefined && existsSync(checkpoint) ? realpathSync(checkpoint) : checkpoint;
    const release = path === undefined ? undefined : lock(path, "--checkpoint");
    try {
      const there =
        path === undefined ? { rows: new Map(), end: 0, lacksEnd: false } : await readUploads(path);
      const planned = await planUploads(files, dataset, there, context.signal);
      const rows = path === undefined ? undefined : new RowFile("--checkpoint", path, there);
      try {
        await uploadAll(context, client, planned, rows);
      } finally {
        rows?.close();
      }
    } finally {
      release?.();
    }
  });
}

async function uploadAll(
  context: Context<ManyOptions>,
  client: Client,
  planned: readonly UploadFile[],
  rows: RowFile | undefined,
): Promise<void> {
  const { options, terminal } = context;
  const isWanted = ({ before }: UploadFile): boolean =>
    fateOf(before) === "not" || (fateOf(before) === "unknown" && options.resendUnknown === true);
  const progress = createProgress(terminal);
  const totalBytes = planned.filter(isWanted).reduce((sum, { bytes }) => sum + bytes, 0);
  const outcomes: Outcome[] = [];
  let before = 0;
  let failed: StatusError | undefined;
  for (const each of planned) {
    if (!isWanted(each) || (failed && lasting.has(failed.code))) {
      outcomes.push(withoutSending(each, isWanted(each)));
      continue;
    }
    const show = (sentBytes: number): void => progress.show({ sentBytes: before + sentBytes, totalBytes });
    const outcome = await uploadOne(context, client, each, { rows, show });
    if (isStatusError(outcome)) failed = outcome;
    const error = isStatusError(outcome) ? errorFields(outcome) : undefined;
    outcomes.push(
      error
        ? { file: each.file, outcome: "failed", error }
        : { file: each.file, outcome: "uploaded", result: outcome },
    );
    before += each.bytes;
  }
  progress.end();
  print(outcomes, terminal);
  if (failed !== undefined) throw new Reported(exitCodeOf[failed.code]);
  if (outcomes.some(({ outcome }) => outcome === "unknown"))
    throw new Reported(exitCodeOf.FAILED_PRECONDITION);
}

async function uploadOne(
  { args: [dataset = ""], options, signal }: Context<ManyOptions>,
  client: Client,
  { file, id, fingerprint }: UploadFile,
  { rows, show }: { readonly rows: RowFile | undefined; readonly show: (sentBytes: number) => void },
): Promise<DatasetFile | StatusError> {
  rows?.add({ id, fingerprint, sending: true });
  // Known before it begins, whatever happens to the machine.
  rows?.flush();
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

function withoutSending({ file, before }: UploadFile, isWanted: boolean): Outcome {
  if (isWanted) return { file, outcome: "not sent" };
  return fateOf(before) === "stored"
    ? { file, outcome: "uploaded before", result: before?.response }
    : { file, outcome: "unknown" };
}

function print(outcomes: readonly Outcome[], terminal: Terminal): void {
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
