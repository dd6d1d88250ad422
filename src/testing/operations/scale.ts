import type { DeploymentScale } from "../../generated/types.js";
import type { RunOperation } from "./operation.js";

/** Keeps the number of replicas. */
export const scale: RunOperation<DeploymentScale> = ({ state, id, body }) => {
  const { name } = state.deployment(id("account_id"), id("deployment_id"));
  state.deployments.set(name, { name, replicaCount: body.replicaCount });
  return {};
};
