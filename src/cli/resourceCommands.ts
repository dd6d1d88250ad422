// The commands `upload`, `scale` and `resume`.
import { once } from "node:events";
import { type DatasetFile, type ReinforcementFineTuningJob, throwIfFailed } from "../index.js";
import type { ManyOptions } from "./bulk/uploadMany.js";
import { type Context, cannotRead, namingFile, Reported, refuseOptions, UsageError } from "./context.js";
import { isSet } from "./environment.js";
import { exitCodes } from "./exitCodes.js";
import { createProgress, isSilent, oneLine, storedLine } from "./terminal.js";
import { withClient } from "./withClient.js";

interface UploadCommandOptions extends ManyOptions {
  readonly name?: string;
}

/** Runs `tunerank upload DATASET FILE...`. */
export async function upload(context: Context<UploadCommandOptions>): Promise<void> {
  const [dataset = "", file = "", ...more] = context.args;
  const { checkpoint } = context.options;
  if (more.length === 0) refuseOptions(context.options, ["concurrency"], "has no effect with one FILE.");
  if (more.length > 0 || checkpoint !== undefined)
    return (await import("./bulk/uploadMany.js")).uploadMany(context);
  refuseOptions(context.options, ["resendUnknown", "wait"], "has no effect without --checkpoint.");
  const { terminal, signal } = context;
  const { name, verify } = context.options;
  if (file === "-" && name === undefined) {
    throw new UsageError("The standard input has no name: give one with --name NAME.");
  }
  await withClient(context, "uploadDatasetFile", async (client) => {
    await (file === "-" ? refuseEmptyInput(signal) : refuseInvalid(file, context));
    const progress = createProgress(terminal);
    let stored: DatasetFile;
    try {
      stored = await client.datasets.upload(dataset, file === "-" ? process.stdin : file, {
        name,
        verifyBytes: verify === true,
        onProgress: progress.show,
        signal,
      });
    } finally {
      progress.end();
    }
    terminal.result(stored, `Uploaded ${storedLine(stored.filename ?? name ?? file, stored)}`);
  });
}

// Waits for the first bytes of the standard input, which are left unread for the upload.
async function refuseEmptyInput(signal: AbortSignal): Promise<void> {
  const { stdin } = process;
  try {
    await once(stdin, "readable", { signal });
  } catch (error) {
    throw cannotRead("The standard input", error, " Nothing was sent.");
  }
  if (stdin.readableLength === 0) throw new UsageError("The standard input is empty: nothing was sent.");
}

async function refuseInvalid(file: string, context: Context<UploadCommandOptions>): Promise<void> {
  const { whyInvalid } = await import("./check/beforeUpload.js");
  const reason = await whyInvalid(file, context.options.name ?? file, context);
  if (reason === undefined) return;
  throw new UsageError(
    `${namingFile("FILE", file)} is invalid: ${reason} Nothing was sent; --no-check sends it as it is.`,
  );
}

/** Runs `tunerank scale DEPLOYMENT REPLICAS`. */
export async function scale(context: Context<{ readonly yes?: boolean }>): Promise<void> {
  const [deployment = "", replicas = ""] = context.args;
  if (!/^\d+$/.test(replicas)) throw new UsageError("REPLICAS must be a whole number, 0 or more.");
  const replicaCount = Number(replicas);
  const { terminal, signal } = context;
  await withClient(context, "scaleDeployment", async (client) => {
    if (replicaCount === 0) await askBeforeZero(deployment, context);
    await client.deployments.scale(deployment, replicaCount, { signal });
    // With --quiet, only the exit code says that the service accepted the number.
    if (terminal.quiet && !terminal.json) return;
    const s = replicaCount === 1 ? "" : "s";
    terminal.result(
      { deployment, replicaCount },
      `Deployment ${deployment}: accepted, ${replicaCount} replica${s}.`,
    );
  });
}

// Asks a person at a terminal whether a deployment should stop serving. A script is not asked.
async function askBeforeZero(
  deployment: string,
  { options, terminal, signal }: Context<{ readonly yes?: boolean }>,
): Promise<void> {
  const { stdin, stderr } = process;
  const isAsked = stdin.isTTY && stderr.isTTY && !isSet("CI") && !isSilent(terminal) && options.yes !== true;
  if (!isAsked) return;
  stderr.write(`${oneLine(`Scale deployment ${deployment} to zero replicas? [y/N]`)} `);
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: stdin, signal });
  const { value } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  signal.throwIfAborted();
  if (/^\s*y(es)?\s*$/i.test(value ?? "")) return;
  terminal.note("Nothing was sent.");
  throw new Reported(exitCodes.interrupted);
}

/** Runs `tunerank resume JOB`. */
export async function resume(context: Context): Promise<void> {
  const [id = ""] = context.args;
  const { terminal, signal } = context;
  await withClient(context, "resumeReinforcementFineTuningJob", async (client) => {
    const job = await client.reinforcementFineTuningJobs.resume(id, { signal });
    try {
      terminal.result(job, lineOf(job, id));
    } finally {
      // That the job failed is told even if the job cannot be written as JSON.
      throwIfFailed(job);
    }
  });
}

// A job as one line of text. The service may send values of other types than the contract promises.
function lineOf({ name, state, jobProgress }: ReinforcementFineTuningJob, id: string): string {
  const percent = jobProgress?.percent;
  const progress = typeof percent === "number" ? `, ${percent} % done` : "";
  return `Job ${textOr(name, id)}: ${textOr(state, "resumed")}${progress}`;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
