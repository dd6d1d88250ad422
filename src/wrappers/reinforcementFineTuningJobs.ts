import { makeCall } from "../call/call.js";
import { startCall } from "../call/callPromise.js";
import type { Context } from "../call/context.js";
import type { ReinforcementFineTuningJob } from "../generated/types.js";
import { checkId } from "../options/arguments.js";
import type { CallOptions, CallPromise } from "../options/options.js";
import { callSettings } from "../options/settings.js";
import { maxAnswerBytes } from "../transport/transport.js";

const timeoutMs = 30_000;

/** Reinforcement fine-tuning jobs of an account. (Interface document: Endpoints, Resume a reinforcement fine-tuning job.) */
export interface ReinforcementFineTuningJobs {
  /**
   * Resumes a job and resolves to it as the service then describes it. Which states allow it is the
   * service's to say. After a failure whose `executed` is `"unknown"`, look at the job before repeating.
   *
   * @param jobId The job's id alone, not its full resource name.
   * @throws StatusError `INVALID_ARGUMENT` before anything is sent; any code of the service.
   * @example const job = await client.reinforcementFineTuningJobs.resume("job-1");
   */
  resume(jobId: string, options?: CallOptions): CallPromise<ReinforcementFineTuningJob>;
}

/** @internal Makes {@link ReinforcementFineTuningJobs} over a client's connection. */
export function createReinforcementFineTuningJobs({
  connection,
  defaults,
}: Context): ReinforcementFineTuningJobs {
  return {
    resume: (jobId, options) =>
      startCall("resumeReinforcementFineTuningJob", async () => {
        const settings = callSettings(defaults, options, timeoutMs);
        const path = {
          account_id: settings.account(),
          reinforcement_fine_tuning_job_id: checkId(jobId, "jobId"),
        };
        const call = {
          operation: "resumeReinforcementFineTuningJob",
          input: { path, body: {} },
          maxResponseBytes: maxAnswerBytes,
          read: (answer: object) => answer as ReinforcementFineTuningJob,
        } as const;
        return makeCall(connection, call, settings);
      }),
  };
}
