import { withClient } from "./client.js";
import { type Context, UsageError } from "./context.js";
import { jsonLine, oneLine } from "./safeText.js";

/** `tunerank scale DEPLOYMENT REPLICAS` */
export async function run(context: Context): Promise<void> {
  const [deployment = "", replicas = ""] = context.args;
  if (!/^\d+$/.test(replicas)) {
    throw new UsageError("REPLICAS must be a whole number, 0 or more.");
  }
  const replicaCount = Number(replicas);
  const { terminal, signal } = context;
  await withClient(context, "scaleDeployment", async (client) => {
    await client.deployments.scale(deployment, replicaCount, { signal });
    if (terminal.json) terminal.print(jsonLine({ deployment, replicaCount }));
    else
      terminal.print(
        oneLine(
          `Deployment ${deployment}: accepted, ${replicaCount} replica${replicaCount === 1 ? "" : "s"}.`,
        ),
      );
  });
}
