import { makeCall } from "../call/call.js";
import { readObject } from "../call/response.js";
import type { ClientConfig } from "../call/settings.js";
import { invalid } from "../errors/statusError.js";
import { requests } from "../generated/contract.js";
import { checkId } from "../options/arguments.js";
import { callOptionTable } from "../options/table.js";
import type { CallOptions, CallPromise } from "../options/types.js";
import { validate } from "../options/validate.js";
import type { DeploymentsOperations } from "./contractMethods.js";
import { prepare, startCall } from "./invoke.js";

/** Deployments of an account. The contract's `scaleDeployment`. */
export interface Deployments extends DeploymentsOperations {
  /**
   * Sets the number of replicas that a deployment should have; 0 stops the deployment. Resolves to nothing once the
   * service has accepted the number. The call is idempotent.
   *
   * @param deploymentId The deployment's id alone, not its full resource name.
   * @param replicaCount A whole number of at least 0; the service may have a maximum of its own.
   * @param options Options of this call, such as `timeoutMs` or `signal`.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service.
   * @example await client.deployments.scale("prod", 0);
   */
  scale(deploymentId: string, replicaCount: number, options?: CallOptions): CallPromise<void>;
}

const readNothing = readObject(() => undefined);

/** @internal Makes {@link Deployments} with a client's settings. */
export function createDeployments(client: ClientConfig): Pick<Deployments, "scale"> {
  return {
    scale: (deploymentId, replicaCount, options) =>
      startCall("scaleDeployment", client, () =>
        makeCall(client, "scaleDeployment", { options, table: callOptionTable }, (settings) => {
          // Callers used to other clients may pass one object: the message then shows this method's arguments.
          if (typeof deploymentId !== "string")
            throw invalid("deploymentId", "deploymentId of scale(id, replicas) must be a string.");
          const ids = { deployment_id: checkId(deploymentId, "deploymentId") };
          const body = { replicaCount };
          validate(body, requests.scaleDeployment.body, "body");
          return prepare(settings, "scaleDeployment", { ids, body, read: readNothing });
        }),
      ),
  };
}
