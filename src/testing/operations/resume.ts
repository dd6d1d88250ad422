import type { ReinforcementFineTuningJob } from "../../generated/types.js";
import { Refusal } from "../answer.js";
import type { RunOperation } from "./operation.js";

/** Resumes a paused job. */
export const resume: RunOperation = ({ state, id }): ReinforcementFineTuningJob => {
  const job = state.job(id("account_id"), id("reinforcement_fine_tuning_job_id"));
  if (job.state !== "JOB_STATE_PAUSED") {
    throw new Refusal("FAILED_PRECONDITION", `The job is in the state ${job.state}, not JOB_STATE_PAUSED.`);
  }
  const resumed = { ...job, state: "JOB_STATE_RUNNING" } as const;
  state.jobs.set(job.name as string, resumed);
  return resumed;
};
