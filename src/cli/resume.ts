import { type ReinforcementFineTuningJob, throwIfFailed } from "../index.js";
import { withClient } from "./client.js";
import { type Context, callOptions } from "./context.js";
import { oneLine } from "./terminal.js";

/** `tunerank resume JOB` */
export async function run(context: Context): Promise<void> {
  const [id = ""] = context.positionals;
  const { terminal } = context;
  await withClient(context, async (client) => {
    const job = await client.reinforcementFineTuningJobs.resume(id, callOptions(context));
    if (terminal.json) terminal.print(JSON.stringify(job));
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
