import { throwIfFailed } from "../index.js";
import { withClient } from "./client.js";
import type { Context } from "./context.js";
import { jsonLine, oneLine } from "./safeText.js";

/** `tunerank resume JOB` */
export async function run(context: Context): Promise<void> {
  const [id = ""] = context.args;
  const { terminal, signal } = context;
  await withClient(context, "resumeReinforcementFineTuningJob", async (client) => {
    const job = await client.reinforcementFineTuningJobs.resume(id, { signal });
    if (terminal.json) terminal.print(jsonLine(job));
    else {
      const done = job.jobProgress?.percent;
      const progress = done === undefined ? "" : `, ${done} % done`;
      terminal.print(oneLine(`Job ${job.name ?? id}: ${job.state ?? "resumed"}${progress}`));
    }
    throwIfFailed(job);
  });
}
