// Generated from openapi.yaml by `npm run generate`: do not edit.

import type { DatasetFile, DatasetUpload, DeploymentScale, DeploymentScaleResult, ErrorBody, JobResumption, ReinforcementFineTuningJob, RerankRequest, RerankResponse } from "./types.js";

/** The operations of the contract by path and method, for `tunerank/openapi-fetch`. */
export interface paths {
    "/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a reinforcement fine-tuning job
         * Resumes a reinforcement fine-tuning job and returns it. Such a job trains with a dataset and an evaluator. The request body is required and has no fields: send `{}`.
         */
        post: operations["resumeReinforcementFineTuningJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inference/v1/rerank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rerank documents
         * Scores documents by their relevance to a query, and returns the most relevant ones, the highest score first.
         */
        post: operations["rerankDocuments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{account_id}/deployments/{deployment_id}:scale": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Scale a deployment
         * Scales a deployment to the given number of replicas. Zero is allowed.
         */
        patch: operations["scaleDeployment"];
        trace?: never;
    };
    "/v1/accounts/{account_id}/datasets/{dataset_id}:upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a dataset file
         * Uploads a dataset file in a single multipart request with one form part, `file`. Files of up to 150 MB are accepted; larger files use a separate upload-endpoint operation.
         */
        post: operations["uploadDatasetFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}

/** The responses, parameters and headers that the operations share. */
export interface components {
    responses: {
        /** Bad request. The code is `INVALID_ARGUMENT`, `FAILED_PRECONDITION` or `OUT_OF_RANGE`. */
        BadRequest: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** The request has no valid credentials. The code is `UNAUTHENTICATED`. */
        Unauthenticated: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** The caller is authenticated but lacks permission. The code is `PERMISSION_DENIED`. */
        PermissionDenied: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** A requested entity was not found. The code is `NOT_FOUND`. */
        NotFound: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** A conflict. The code is `ALREADY_EXISTS` or `ABORTED`. */
        Conflict: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** A quota or resource is exhausted. The code is `RESOURCE_EXHAUSTED`. */
        ResourceExhausted: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** The request was cancelled. The code is `CANCELLED`. */
        Cancelled: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** A failure of the service. The code is `UNKNOWN`, `INTERNAL` or `DATA_LOSS`. */
        InternalServerError: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** The operation is not implemented or not enabled. The code is `UNIMPLEMENTED`. */
        Unimplemented: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** The service is unavailable for the moment. The code is `UNAVAILABLE`. */
        Unavailable: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** The deadline expired before completion. The code is `DEADLINE_EXCEEDED`. A state-changing operation may still have completed. */
        DeadlineExceeded: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
        /** Any status that the table of codes does not list, for example one that a proxy sends. */
        UnexpectedError: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": ErrorBody;
                "text/html": string;
                "text/plain": string;
            };
        };
    };
    parameters: {
        /**
         * The account that the resource lives under.
         * @example acme
         */
        AccountId: string;
        /**
         * The reinforcement fine-tuning job.
         * @example answer-quality
         */
        ReinforcementFineTuningJobId: string;
        /**
         * The deployment.
         * @example support-search
         */
        DeploymentId: string;
        /**
         * The dataset.
         * @example support-answers
         */
        DatasetId: string;
    };
    requestBodies: never;
    headers: {
        /**
         * An id of the request, to quote when asking about it. The client reads `x-request-id`, else `request-id`.
         * @example req-5f3a9c1e
         */
        RequestId: string;
        /**
         * How long to wait before the next attempt, as a number of seconds or an HTTP date.
         * @example 1
         */
        RetryAfter: string;
    };
    pathItems: never;
}

/** The operations of the contract by their ids. */
export interface operations {
    resumeReinforcementFineTuningJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * The account that the resource lives under.
                 * @example acme
                 */
                account_id: components["parameters"]["AccountId"];
                /**
                 * The reinforcement fine-tuning job.
                 * @example answer-quality
                 */
                reinforcement_fine_tuning_job_id: components["parameters"]["ReinforcementFineTuningJobId"];
            };
            cookie?: never;
        };
        /** An object with no fields. */
        requestBody: {
            content: {
                "application/json": JobResumption;
            };
        };
        responses: {
            /** The reinforcement fine-tuning job. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ReinforcementFineTuningJob;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["ResourceExhausted"];
            499: components["responses"]["Cancelled"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["Unimplemented"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["DeadlineExceeded"];
            default: components["responses"]["UnexpectedError"];
        };
    };
    rerankDocuments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The query, the documents and how to rank them. */
        requestBody: {
            content: {
                "application/json": RerankRequest;
            };
        };
        responses: {
            /** The ranked documents. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": RerankResponse;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["ResourceExhausted"];
            499: components["responses"]["Cancelled"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["Unimplemented"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["DeadlineExceeded"];
            default: components["responses"]["UnexpectedError"];
        };
    };
    scaleDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * The account that the resource lives under.
                 * @example acme
                 */
                account_id: components["parameters"]["AccountId"];
                /**
                 * The deployment.
                 * @example support-search
                 */
                deployment_id: components["parameters"]["DeploymentId"];
            };
            cookie?: never;
        };
        /** The desired number of replicas. */
        requestBody: {
            content: {
                "application/json": DeploymentScale;
            };
        };
        responses: {
            /** An object with no fields. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": DeploymentScaleResult;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["ResourceExhausted"];
            499: components["responses"]["Cancelled"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["Unimplemented"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["DeadlineExceeded"];
            default: components["responses"]["UnexpectedError"];
        };
    };
    uploadDatasetFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * The account that the resource lives under.
                 * @example acme
                 */
                account_id: components["parameters"]["AccountId"];
                /**
                 * The dataset.
                 * @example support-answers
                 */
                dataset_id: components["parameters"]["DatasetId"];
            };
            cookie?: never;
        };
        /** A multipart form with one part, `file`, that holds the content of the file. */
        requestBody: {
            content: {
                "multipart/form-data": DatasetUpload;
            };
        };
        responses: {
            /** What the service made of the file. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": DatasetFile;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["ResourceExhausted"];
            499: components["responses"]["Cancelled"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["Unimplemented"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["DeadlineExceeded"];
            default: components["responses"]["UnexpectedError"];
        };
    };
}
