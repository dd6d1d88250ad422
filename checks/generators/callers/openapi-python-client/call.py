"""Calls the client that openapi-python-client made."""

import json
import os
from pathlib import Path

from service.api.datasets import upload_dataset_file
from service.api.deployments import scale_deployment
from service.api.reinforcement_fine_tuning_jobs import resume_reinforcement_fine_tuning_job
from service.api.rerank import rerank_documents
from service.client import AuthenticatedClient
from service.models import (
    CosineSchedule,
    ErrorBody,
    ReinforcementFineTuningJob,
    RerankRequest,
    RerankResponse,
    ResumeReinforcementFineTuningJobRequest,
    ScaleDeploymentRequest,
    ScaleDeploymentResponse,
    UploadDatasetFileRequest,
    UploadDatasetFileResponse,
)
from service.types import File, Unset

client = AuthenticatedClient(
    base_url=os.environ["TUNERANK_BASE_URL"], token=os.environ["TUNERANK_API_KEY"]
)

job = resume_reinforcement_fine_tuning_job.sync(
    "acme", "answer-quality", client=client, body=ResumeReinforcementFineTuningJobRequest()
)
assert isinstance(job, ReinforcementFineTuningJob)
assert not isinstance(job.state, Unset) and not isinstance(job.accelerator_seconds, Unset)
assert not isinstance(job.training_config, Unset)
assert not isinstance(job.training_config.lr_scheduler, Unset)
schedule = job.training_config.lr_scheduler.cosine
assert isinstance(schedule, CosineSchedule)

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
assert isinstance(ranked, RerankResponse)
best = ranked.data[0]

scaled = scale_deployment.sync(
    "acme", "support-search", client=client, body=ScaleDeploymentRequest(replica_count=2)
)
assert isinstance(scaled, ScaleDeploymentResponse)

path = Path(os.environ["TUNERANK_FILE"])
with path.open("rb") as payload:
    file = File(payload=payload, file_name=path.name, mime_type="application/octet-stream")
    stored = upload_dataset_file.sync(
        "acme", "support-answers", client=client, body=UploadDatasetFileRequest(file=file)
    )
assert isinstance(stored, UploadDatasetFileResponse)

refused = scale_deployment.sync_detailed(
    "acme", "missing", client=client, body=ScaleDeploymentRequest(replica_count=0)
)
assert isinstance(refused.parsed, ErrorBody)

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
            "scale": scaled.to_dict(),
            "upload": {"filename": stored.filename, "bytes": stored.bytes_},
            "error": {"status": refused.status_code.value, "code": refused.parsed["code"]},
        }
    )
)
