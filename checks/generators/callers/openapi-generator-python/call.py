"""Calls the client that openapi-generator made."""

import json
import os

from openapi_client import ApiClient, Configuration
from openapi_client.api.datasets_api import DatasetsApi
from openapi_client.api.deployments_api import DeploymentsApi
from openapi_client.api.reinforcement_fine_tuning_jobs_api import ReinforcementFineTuningJobsApi
from openapi_client.api.rerank_api import RerankApi
from openapi_client.exceptions import NotFoundException
from openapi_client.models.rerank_request import RerankRequest
from openapi_client.models.scale_deployment_request import ScaleDeploymentRequest

client = ApiClient(
    Configuration(host=os.environ["TUNERANK_BASE_URL"], access_token=os.environ["TUNERANK_API_KEY"])
)
deployments = DeploymentsApi(client)

job = ReinforcementFineTuningJobsApi(client).resume_reinforcement_fine_tuning_job("acme", "answer-quality", {})
assert job.state and job.accelerator_seconds and job.training_config and job.training_config.lr_scheduler
schedule = job.training_config.lr_scheduler.cosine
assert schedule

ranked = RerankApi(client).rerank_documents(
    RerankRequest(
        query="capital of France",
        documents=["Rome.", "Lyon.", "Paris."],
        model="accounts/acme/models/reranker-small",
        top_n=3,
        return_documents=True,
        task="Find the capital.",
    )
)
best = ranked.data[0]

scaled = deployments.scale_deployment("acme", "support-search", ScaleDeploymentRequest(replicaCount=2))
stored = DatasetsApi(client).upload_dataset_file("acme", "support-answers", os.environ["TUNERANK_FILE"])

try:
    deployments.scale_deployment("acme", "missing", ScaleDeploymentRequest(replicaCount=0))
except NotFoundException as error:
    assert error.data is not None
    failure = {"status": error.status, "code": error.data["code"]}

print(
    json.dumps(
        {
            "resume": {
                "state": job.state.value,
                "acceleratorSeconds": job.accelerator_seconds["accelerator-type-a"],
                "minLrRatio": schedule.min_lr_ratio,
            },
            "rerank": {
                "index": best.index,
                "relevanceScore": best.relevance_score,
                "document": best.document,
            },
            "scale": scaled,
            "upload": {"filename": stored.filename, "bytes": stored.bytes},
            "error": failure,
        }
    )
)
