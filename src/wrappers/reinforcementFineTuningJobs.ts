import { makeCall } from "../call/call.js";
import { readObject } from "../call/response.js";
import type { ClientConfig } from "../call/settings.js";
import { codeOfGrpcNumber, type StatusCode } from "../errors/codes.js";
import { StatusError } from "../errors/statusError.js";
import { httpStatuses } from "../generated/contract.js";
import type { ReinforcementFineTuningJob } from "../generated/types.js";
import { checkId } from "../options/arguments.js";
import { callOptionTable } from "../options/table.js";
import type { CallOptions, CallPromise } from "../options/types.js";
import { validate } from "../options/validate.js";
import { memberOf, valueOr } from "../values.js";
import type { ReinforcementFineTuningJobsOperations } from "./contractMethods.js";
import { prepare, startCall } from "./invoke.js";

/** Reinforcement fine-tuning jobs of an account. The contract's `resumeReinforcementFineTuningJob`. */
export interface ReinforcementFineTuningJobs extends ReinforcementFineTuningJobsOperations {
  /**
   * Resumes a job and resolves to the job as the service then describes it. The service decides which states allow
   * this. After a failure whose `executed` is `"unknown"`, look at the job before you call this a second time.
   *
   * @param jobId The job's id alone, not its full resource name.
   * @param options Options of this call, such as `timeoutMs` or `signal`.
   * @throws StatusError `INVALID_ARGUMENT` before anything is sent; any code of the service.
   * @example const job = await client.reinforcementFineTuningJobs.resume("job-1");
   */
  resume(jobId: string, options?: CallOptions): CallPromise<ReinforcementFineTuningJob>;
}

const operation = "resumeReinforcementFineTuningJob";
const readJob = readObject((job) => job as ReinforcementFineTuningJob);

/** @internal Makes {@link ReinforcementFineTuningJobs} with a client's settings. */
export function createReinforcementFineTuningJobs(
  client: ClientConfig,
): Pick<ReinforcementFineTuningJobs, "resume"> {
  return {
    resume: (jobId, options) =>
      startCall(operation, client, () =>
        makeCall(client, operation, { options, table: callOptionTable }, (settings) => {
          const ids = { reinforcement_fine_tuning_job_id: checkId(jobId, "jobId") };
          return prepare(settings, operation, { ids, body: {}, read: readJob });
        }),
      ),
  };
}

/**
 * Throws the failure that a job reports in its `status`; a job without a status or code, or with OK, passes.
 * A number is gRPC's: 0 is OK, 5 is NOT_FOUND.
 * The status has the contract's schema `Status`.
 *
 * @param job What `resume` resolved to, or any job of the service.
 * @throws StatusError with the job's code, `executed: "yes"` and no `httpStatus`. A code outside the
 * service's table becomes `UNKNOWN`, `inferred`. `body` holds the job's status unchanged.
 * `INVALID_ARGUMENT` with `executed: "no"` if `job` is not an object.
 * @example throwIfFailed(await client.reinforcementFineTuningJobs.resume("job-1"));
 */
export function throwIfFailed(job: Pick<ReinforcementFineTuningJob, "status">): void {
  validate(job, { type: "object" }, "job");
  const status = memberOf(job, "status");
  const reported = memberOf(status, "code");
  if (reported === undefined || reported === null || reported === "OK" || reported === 0) return;
  const isName = typeof reported === "string" && Object.hasOwn(httpStatuses, reported);
  const code = isName ? (reported as StatusCode) : codeOfGrpcNumber(reported);
  // Some values have no JSON, and for others JSON.stringify throws.
  const json = typeof reported === "string" ? reported : valueOr(() => JSON.stringify(reported));
  const shown = (json ?? `of type ${typeof reported}`).slice(0, 100);
  const text = memberOf(status, "message");
  const reports = `The job reports the code ${code ?? shown}.`;
  throw new StatusError(typeof text === "string" && text !== "" ? text : reports, {
    code: code ?? "UNKNOWN",
    inferred: code === undefined,
    executed: "yes",
    codeSource: "body",
    body: status,
    hint: "The job itself failed: read the message, and its logs.",
  });
}
