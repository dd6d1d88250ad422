// Generated from openapi.yaml by `npm run generate`: do not edit.


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

/** Gives a client the methods that the contract has and nobody wrote: there are none. */
export function addMethods<T>(client: T, _settings: unknown): T & ContractMethods {
  return client as T & ContractMethods;
}
