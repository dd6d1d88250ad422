// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { OperationId } from "../generated/contract.js";

/** What the contract adds to `client.reinforcementFineTuningJobs`. */
export interface ReinforcementFineTuningJobsOperations {
}

/** What the contract adds to `client.deployments`. */
export interface DeploymentsOperations {
}

/** What the contract adds to `client.datasets`. */
export interface DatasetsOperations {
}

/** What the contract adds to a client besides what is written by hand. */
export interface ContractClient {

}

/** All of that, by group. */
export interface ContractMethods extends ContractClient {
  readonly reinforcementFineTuningJobs: ReinforcementFineTuningJobsOperations;
  readonly deployments: DeploymentsOperations;
  readonly datasets: DatasetsOperations;
}

/** A method that follows from a row of the contract. */
export interface OperationMethod {
  readonly operation: OperationId;
  /** The ids of its path, but for the account, in their order. */
  readonly path: readonly string[];
  /** Whether it takes a body, or a file. */
  readonly body: boolean;
  /** Whether it takes an object of query and header parameters. */
  readonly parameters: boolean;
}

/** Those methods by group and name; a group without a name is the client itself. */
export const contractMethods: Readonly<Record<string, Readonly<Record<string, OperationMethod>>>> = {
};
