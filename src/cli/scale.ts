import { withClient } from "./client.js";
import { type Context, callOptions, UsageError } from "./context.js";
import { jsonLine, oneLine } from "./safeText.js";

/** `tunerank scale DEPLOYMENT REPLICAS` */
export async function run(context: Context): Promise<void> {
  const [deployment = "", replicas = ""] = context.positionals;
  if (!/^\d+$/.test(replicas)) {
    throw new UsageError("REPLICAS must be a whole number, 0 or more.");
  }
  const replicaCount = Number(replicas);
  await withClient(context, async (client) => {
    await client.deployments.scale(deployment, replicaCount, callOptions(context));
    const { terminal } = context;
    if (terminal.json) terminal.print(jsonLine({ deployment, replicaCount }));
    else
      terminal.print(
        oneLine(
          `Deployment ${deployment}: accepted, ${replicaCount} replica${replicaCount === 1 ? "" : "s"}.`,
        ),
      );
  });
}
