"""Calls the client that openapi-generator made."""

import json
import os
from typing import Any

from openapi_client import ApiClient, ApiException, Configuration
from openapi_client.api.datasets_api import DatasetsApi
from openapi_client.api.deployments_api import DeploymentsApi
from openapi_client.api.reinforcement_fine_tuning_jobs_api import ReinforcementFineTuningJobsApi
from openapi_client.api.rerank_api import RerankApi
from openapi_client.models.deployment_scale import DeploymentScale
from openapi_client.models.rerank_request import RerankRequest

client = ApiClient(
    Configuration(host=os.environ["TUNERANK_BASE_URL"], access_token=os.environ["TUNERANK_API_KEY"])
)
deployments = DeploymentsApi(client)
jobs = ReinforcementFineTuningJobsApi(client)


def resume(id: str) -> dict[str, Any]:
    job = jobs.resume_reinforcement_fine_tuning_job("acme", id, {})
    scheduler = job.training_config.lr_scheduler if job.training_config else None
    schedule = scheduler.cosine if scheduler else None
    return {
        "state": job.state,
        "code": job.status.code if job.status else None,
        "percent": job.job_progress.percent if job.job_progress else None,
        "displayName": job.display_name,
        "minLrRatio": schedule.min_lr_ratio if schedule else None,
        "acceleratorSeconds": (job.accelerator_seconds or {}).get("accelerator-type-a"),
    }


def try_resume(id: str) -> dict[str, Any]:
    try:
        return resume(id)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def fail(id: str) -> ApiException:
    try:
        deployments.scale_deployment("acme", id, DeploymentScale(replicaCount=0))
    except ApiException as error:
        return error
    raise AssertionError(f"not refused: {id}")


answered = resume("answer-quality")
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
scaled = deployments.scale_deployment("acme", "support-search", DeploymentScale(replicaCount=2))
stored = DatasetsApi(client).upload_dataset_file("acme", "support-answers", os.environ["TUNERANK_FILE"])
missing = fail("missing")

print(
    json.dumps(
        {
            "resume": answered,
            "rerank": {
                "index": best.index,
                "relevanceScore": best.relevance_score,
                "document": best.document,
            },
            "scale": scaled,
            "upload": {"filename": stored.filename, "bytes": stored.bytes},
            "error": {"status": missing.status, "code": json.loads(missing.body or "{}")["code"]},
            "jobs": {id: try_resume(id) for id in os.environ["TUNERANK_JOBS"].split(",")},
            "errors": [fail(f"error-{row}").status for row in range(int(os.environ["TUNERANK_ERRORS"]))],
        }
    )
)
