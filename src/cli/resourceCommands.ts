import { throwIfFailed } from "../index.js";
import { type Context, RunEnded, UsageError } from "./context.js";
import { exitCodes } from "./exitCodes.js";
import { counted, isSet } from "./terminal.js";
import { withClient } from "./withClient.js";

export async function scale(context: Context): Promise<void> {
  const [deployment = "", replicas = ""] = context.args;
  if (!/^\d+$/.test(replicas)) throw new UsageError("REPLICAS must be a whole number, 0 or more.");
  const replicaCount = Number(replicas);
  const { terminal, signal } = context;
  await withClient(context, "scaleDeployment", async (client) => {
    if (replicaCount === 0) await askBeforeZero(deployment, context);
    await client.deployments.scale(deployment, replicaCount, { signal });
    // With --quiet, only the exit code says that the service accepted the number.
    if (terminal.quiet && !terminal.json) return;
    const line = `Deployment ${deployment}: accepted, ${counted(replicaCount, "replica")}.`;
    terminal.result({ deployment, replicaCount }, line);
  });
}

// Asks a person at a terminal whether a deployment should stop serving. A script is not asked.
async function askBeforeZero(deployment: string, { options, terminal, signal }: Context): Promise<void> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY || isSet("CI") || terminal.isSilent || options.yes) return;
  terminal.note(`Scale deployment ${deployment} to zero replicas? [y/N]`);
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: stdin, signal });
  const { value } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  signal.throwIfAborted();
  if (/^\s*y(es)?\s*$/i.test(value ?? "")) return;
  terminal.note("Nothing was sent.");
  throw new RunEnded(exitCodes.interrupted);
}

export async function resume(context: Context): Promise<void> {
  const [id = ""] = context.args;
  const { terminal, signal } = context;
  await withClient(context, "resumeReinforcementFineTuningJob", async (client) => {
    const job = await client.reinforcementFineTuningJobs.resume(id, { signal });
    // The service may send values of other types than the contract promises.
    const textOf = (value: unknown, other: string): string => (typeof value === "string" ? value : other);
    const percent = job.jobProgress?.percent;
    const progress = typeof percent === "number" ? `, ${percent} % done` : "";
    terminal.result(job, `Job ${textOf(job.name, id)}: ${textOf(job.state, "resumed")}${progress}`);
    throwIfFailed(job);
  });
}
