// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { ContractClient, ReinforcementFineTuningJobsOperations, DeploymentsOperations, DatasetsOperations } from "./contractMethods.js";

/** All that the contract adds, by group. */
export interface ContractMethods extends ContractClient {
  readonly reinforcementFineTuningJobs: ReinforcementFineTuningJobsOperations;
  readonly deployments: DeploymentsOperations;
  readonly datasets: DatasetsOperations;
}

/** @internal Gives a client the methods that the contract has and nobody wrote: there are none. */
export function addMethods<T>(client: T, _settings: unknown): T & ContractMethods {
  return client as T & ContractMethods;
}
