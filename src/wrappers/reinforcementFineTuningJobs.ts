import { makeCall } from "../call/call.js";
import { startCall } from "../call/callPromise.js";
import { accountOf, callSettings, type LateSettings } from "../call/settings.js";
import type { ReinforcementFineTuningJob } from "../generated/types.js";
import { checkId, ownProperties } from "../options/arguments.js";
import { type CallOptions, type CallPromise, callOptionNames } from "../options/callOptions.js";
import type { ReinforcementFineTuningJobsOperations } from "./contractMethods.js";

/** Reinforcement fine-tuning jobs of an account. The contract's `resumeReinforcementFineTuningJob`. */
export interface ReinforcementFineTuningJobs extends ReinforcementFineTuningJobsOperations {
  /**
   * Resumes a job and resolves to it as the service then describes it. Which states allow it is the
   * service's to say. After a failure whose `executed` is `"unknown"`, look at the job before repeating.
   *
   * @param jobId The job's id alone, not its full resource name.
   * @param options What this call sets for itself, such as `timeoutMs` or `signal`.
   * @throws StatusError `INVALID_ARGUMENT` before anything is sent; any code of the service.
   * @example const job = await client.reinforcementFineTuningJobs.resume("job-1");
   */
  resume(jobId: string, options?: CallOptions): CallPromise<ReinforcementFineTuningJob>;
}

/** @internal Makes {@link ReinforcementFineTuningJobs} with a client's settings. */
export function createReinforcementFineTuningJobs(
  client: LateSettings,
): Pick<ReinforcementFineTuningJobs, "resume"> {
  function resume(jobId: string, options?: CallOptions): CallPromise<ReinforcementFineTuningJob> {
    return startCall("resumeReinforcementFineTuningJob", client, async () => {
      const settings = callSettings(client, ownProperties(options, "options", callOptionNames), true);
      const call = {
        operation: "resumeReinforcementFineTuningJob",
        path: {
          account_id: accountOf(settings),
          reinforcement_fine_tuning_job_id: checkId(jobId, "jobId"),
        },
        body: {},
        read: (answer: object) => answer as ReinforcementFineTuningJob,
      } as const;
      return makeCall(call, settings);
    });
  }
  return { resume };
}
