import { type ReinforcementFineTuningJob, throwIfFailed } from "../index.js";
import { type Context, UsageError } from "./context.js";
import { withClient } from "./withClient.js";

/** `tunerank scale DEPLOYMENT REPLICAS` */
export async function scale(context: Context): Promise<void> {
  const [deployment = "", replicas = ""] = context.args;
  if (!/^\d+$/.test(replicas)) throw new UsageError("REPLICAS must be a whole number, 0 or more.");
  const replicaCount = Number(replicas);
  const { terminal, signal } = context;
  await withClient(context, "scaleDeployment", async (client) => {
    await client.deployments.scale(deployment, replicaCount, { signal });
    const s = replicaCount === 1 ? "" : "s";
    terminal.result(
      { deployment, replicaCount },
      `Deployment ${deployment}: accepted, ${replicaCount} replica${s}.`,
    );
  });
}

/** `tunerank resume JOB` */
export async function resume(context: Context): Promise<void> {
  const [id = ""] = context.args;
  const { terminal, signal } = context;
  await withClient(context, "resumeReinforcementFineTuningJob", async (client) => {
    const job = await client.reinforcementFineTuningJobs.resume(id, { signal });
    terminal.result(job, lineOf(job, id));
    throwIfFailed(job);
  });
}

// A service may send other values than its contract promises.
function lineOf({ name, state, jobProgress }: ReinforcementFineTuningJob, id: string): string {
  const percent = jobProgress?.percent;
  const progress = typeof percent === "number" ? `, ${percent} % done` : "";
  return `Job ${textOr(name, id)}: ${textOr(state, "resumed")}${progress}`;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
