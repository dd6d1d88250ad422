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
