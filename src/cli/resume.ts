import { type ReinforcementFineTuningJob, throwIfFailed } from "../index.js";
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
    else terminal.print(oneLine(lineOf(job, id)));
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
