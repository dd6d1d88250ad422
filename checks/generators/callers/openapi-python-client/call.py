"""Calls the client that openapi-python-client made."""

import json
import os
from pathlib import Path
from typing import Any

from training_deployment_dataset_and_rerank_service_client import AuthenticatedClient
from training_deployment_dataset_and_rerank_service_client.api.datasets import upload_dataset_file
from training_deployment_dataset_and_rerank_service_client.api.deployments import scale_deployment
from training_deployment_dataset_and_rerank_service_client.api.reinforcement_fine_tuning_jobs import (
    resume_reinforcement_fine_tuning_job,
)
from training_deployment_dataset_and_rerank_service_client.api.rerank import rerank_documents
from training_deployment_dataset_and_rerank_service_client.models import (
    DatasetUpload,
    DeploymentScale,
    DeploymentScaleResult,
    JobResumption,
    RerankRequest,
)
from training_deployment_dataset_and_rerank_service_client.types import File, Response, Unset

client = AuthenticatedClient(
    base_url=os.environ["TUNERANK_BASE_URL"], token=os.environ["TUNERANK_API_KEY"]
)


def or_none(value: Any) -> Any:
    return None if isinstance(value, Unset) else value


def resume(id: str) -> dict[str, Any]:
    job = resume_reinforcement_fine_tuning_job.sync("acme", id, client=client, body=JobResumption())
    assert job is not None
    training = or_none(job.training_config)
    scheduler = or_none(training.lr_scheduler) if training else None
    schedule = or_none(scheduler.cosine) if scheduler else None
    status = or_none(job.status)
    progress = or_none(job.job_progress)
    seconds = or_none(job.accelerator_seconds)
    return {
        "state": or_none(job.state),
        "code": or_none(status.code) if status else None,
        "percent": or_none(progress.percent) if progress else None,
        "displayName": or_none(job.display_name),
        "minLrRatio": or_none(schedule.min_lr_ratio) if schedule else None,
        "acceleratorSeconds": seconds.to_dict().get("accelerator-type-a") if seconds else None,
    }


def try_resume(id: str) -> dict[str, Any]:
    try:
        return resume(id)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def scale(id: str, replicas: int) -> Response[DeploymentScaleResult]:
    body = DeploymentScale(replica_count=replicas)
    return scale_deployment.sync_detailed("acme", id, client=client, body=body)


def status_of(row: int) -> Any:
    try:
        return scale(f"error-{row}", 0).status_code.value
    except Exception as error:
        return f"{type(error).__name__}: {error}"


answered = resume("answer-quality")
ranked = rerank_documents.sync(
    client=client,
    body=RerankRequest(
        query="capital of France",
        documents=["Rome.", "Lyon.", "Paris."],
        model="accounts/acme/models/reranker-small",
        top_n=3,
        return_documents=True,
        task="Find the capital.",
    ),
)
assert ranked is not None
best = ranked.data[0]
scaled = scale("support-search", 2).parsed
assert scaled is not None
path = Path(os.environ["TUNERANK_FILE"])
with path.open("rb") as payload:
    file = File(payload=payload, file_name=path.name, mime_type="application/octet-stream")
    stored = upload_dataset_file.sync(
        "acme", "support-answers", client=client, body=DatasetUpload(file=file)
    )
assert stored is not None
missing = scale("missing", 0)

print(
    json.dumps(
        {
            "resume": answered,
            "rerank": {
                "index": best.index,
                "relevanceScore": best.relevance_score,
                "document": best.document,
            },
            "scale": scaled.to_dict(),
            "upload": {"filename": stored.filename, "bytes": stored.bytes_},
            "error": {"status": missing.status_code.value, "code": json.loads(missing.content)["code"]},
            "jobs": {id: try_resume(id) for id in os.environ["TUNERANK_JOBS"].split(",")},
            "errors": [status_of(row) for row in range(int(os.environ["TUNERANK_ERRORS"]))],
        }
    )
)
