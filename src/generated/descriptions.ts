// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { OperationId } from "./contract.js";

/** What the contract says of an operation, of its parameters and of the fields of its body; and its name in clients. */
export interface Description {
  readonly method: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

/** The same of each operation. */
export const descriptions: Readonly<Record<OperationId, Description>> = {
  resumeReinforcementFineTuningJob: {"method":"reinforcementFineTuningJobs.resume","summary":"Resume a reinforcement fine-tuning job","description":"Resumes a reinforcement fine-tuning job and returns it.","parameters":{"account_id":"The account that the resource lives under.","reinforcement_fine_tuning_job_id":"The reinforcement fine-tuning job."},"fields":{}},
  rerankDocuments: {"method":"rerank","summary":"Rerank documents","description":"Scores documents by their relevance to a query, and returns the most relevant ones, the highest score first.","parameters":{},"fields":{"query":"What to search for.","documents":"The documents to rank, at least 1.","model":"The name of the reranker model, in the form `accounts/<account>/models/<model_id>`.","top_n":"The number of most relevant documents to return.","return_documents":"Whether the response contains the text of each document.","task":"A description of the task, which guides the ranking."}},
  scaleDeployment: {"method":"deployments.scale","summary":"Scale a deployment","description":"Scales a deployment to the given number of replicas.","parameters":{"account_id":"The account that the resource lives under.","deployment_id":"The deployment."},"fields":{"replicaCount":"The desired number of replicas."}},
  uploadDatasetFile: {"method":"datasets.upload","summary":"Upload a dataset file","description":"Uploads a dataset file in a single multipart request with one form part, `file`.","parameters":{"account_id":"The account that the resource lives under.","dataset_id":"The dataset."},"fields":{"file":"The content of the file, at most 150 MB."}},
};

/** The form that each pattern of the contract stands for, with an example. */
export const forms: Readonly<Record<string, string>> = {
  "^accounts/[^/]+/secrets/[^/]+$": "accounts/{account_id}/secrets/{secret_id}, such as accounts/acme/secrets/object-store-a",
  "^arn:aws:iam::[^:]*:role/.+$": "arn:aws:iam::<account-id>:role/<role-name>, such as arn:aws:iam::123456789012:role/dataset-reader",
  "^accounts/[^/]+/models/[^/]+$": "accounts/<account>/models/<model_id>, such as accounts/acme/models/reranker-small",
};
