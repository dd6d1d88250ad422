import { withClient } from "./client.js";
import { type Context, callOptions, UsageError } from "./context.js";

/** `tunerank scale DEPLOYMENT REPLICAS` */
export async function run(context: Context): Promise<void> {
  const [deployment = "", replicas = ""] = context.positionals;
  if (!/^\d+$/.test(replicas)) {
    throw new UsageError(`REPLICAS must be a whole number, 0 or more, not ${JSON.stringify(replicas)}.`);
  }
  const replicaCount = Number(replicas);
  await withClient(context, async (client) => {
    await client.deployments.scale(deployment, replicaCount, callOptions(context));
    const { terminal } = context;
    if (terminal.json) terminal.print(JSON.stringify({ deployment, replicaCount }));
    else
      terminal.print(
        `Deployment ${deployment}: accepted, ${replicaCount} replica${replicaCount === 1 ? "" : "s"}.`,
      );
  });
}
