import type { StatusCode } from "../errors/codes.js";
import { StatusError } from "../errors/statusError.js";
import { codes } from "../generated/contract.js";
import type { ReinforcementFineTuningJob } from "../generated/types.js";

/**
 * Throws the failure a job reports in its `status`; a job without a status or code, or with OK, passes.
 * (Interface document: Resources and their fields, Status.)
 *
 * @throws StatusError with the job's code, `executed: "yes"` and no `httpStatus`. A code outside the
 * service's table becomes `UNKNOWN`, `inferred`. `body` holds the status as it came.
 * @example throwIfFailed(await client.reinforcementFineTuningJobs.resume("job-1"));
 */
export function throwIfFailed(job: Pick<ReinforcementFineTuningJob, "status">): void {
  const { status } = job;
  const code = status?.code;
  if (code === undefined || code === null || code === "OK") return;
  const known = Object.hasOwn(codes, code);
  const said: unknown = status?.message;
  const message =
    (typeof said === "string" && said) ||
    (known ? codes[code as StatusCode].meaning : `The job reports the code ${code}.`);
  throw new StatusError(message, {
    code: known ? (code as StatusCode) : "UNKNOWN",
    inferred: !known,
    executed: "yes",
    codeSource: "body",
    body: status,
    hint: "The job itself failed: read the message, and the job's logs where they are available.",
  });
}
