import { makeCall } from "../call/call.js";
import { startCall } from "../call/callPromise.js";
import type { Context } from "../call/context.js";
import { requests } from "../generated/contract.js";
import { checkId } from "../options/arguments.js";
import type { CallOptions, CallPromise } from "../options/options.js";
import { callSettings } from "../options/settings.js";
import { compile, validate } from "../options/validate.js";

const timeoutMs = 30_000;
const check = compile(requests.scaleDeployment.body);

/** Deployments of an account. (Interface document: Endpoints, Scale a deployment.) */
export interface Deployments {
  /**
   * Sets the number of replicas a deployment should have; 0 stops it. Resolves to nothing once the service
   * accepted. Repeating it with the same number is safe.
   *
   * @param deploymentId The deployment's id alone, not its full resource name.
   * @param replicaCount A whole number of at least 0; the service may have a maximum of its own.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service.
   * @example await client.deployments.scale("prod", 0);
   */
  scale(deploymentId: string, replicaCount: number, options?: CallOptions): CallPromise<void>;
}

/** @internal Makes {@link Deployments} over a client's connection. */
export function createDeployments({ connection, defaults }: Context): Deployments {
  return {
    scale: (deploymentId, replicaCount, options) =>
      startCall("scaleDeployment", async () => {
        const settings = callSettings(defaults, options, timeoutMs);
        const path = { account_id: settings.account(), deployment_id: checkId(deploymentId, "deploymentId") };
        const body = { replicaCount };
        validate(body, check, "body");
        const call = {
          operation: "scaleDeployment",
          input: { path, body },
          read: () => undefined,
        } as const;
        return makeCall<"scaleDeployment", void>(connection, call, settings);
      }),
  };
}
