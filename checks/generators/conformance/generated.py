"""The client that openapi-python-client makes, as it comes, under the runner: python generated.py RUNNER"""

import base64
import io
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
from training_deployment_dataset_and_rerank_service_client import AuthenticatedClient, models
from training_deployment_dataset_and_rerank_service_client.api.datasets import upload_dataset_file
from training_deployment_dataset_and_rerank_service_client.api.deployments import scale_deployment
from training_deployment_dataset_and_rerank_service_client.api.reinforcement_fine_tuning_jobs import (
    resume_reinforcement_fine_tuning_job,
)
from training_deployment_dataset_and_rerank_service_client.api.rerank import rerank_documents
from training_deployment_dataset_and_rerank_service_client.types import File

# It has no option for any of these.
LACKS = {"key-function", "repeatable", "abort", "attempt-timeout", "connect-timeout", "ca-certificate", "proxy", "connections", "bytes-behind", "two-programs",
         "proxy-environment", "tunnel-timeout", "early-close", "parallel", "two-clients"}


def call(row, client):
    given = row["arguments"]
    body = given.get("body", {})
    match row["operation"]:
        case "resumeReinforcementFineTuningJob":
            ids = given["account_id"], given["reinforcement_fine_tuning_job_id"]
            resume = resume_reinforcement_fine_tuning_job.sync_detailed
            return resume(*ids, client=client, body=models.JobResumption())
        case "rerankDocuments":
            return rerank_documents.sync_detailed(client=client, body=models.RerankRequest.from_dict(body))
        case "scaleDeployment":
            scale = models.DeploymentScale.from_dict(body)
            return scale_deployment.sync_detailed(given["account_id"], given["deployment_id"], client=client, body=scale)
        case "uploadDatasetFile":
            unit = base64.b64decode(given["file"].get("base64", "")) or given["file"].get("content", "").encode()
            size = given["file"].get("bytes", len(unit))
            content = io.BytesIO((unit * (size // max(1, len(unit)) + 1))[:size])
            form = models.DatasetUpload(file=File(payload=content, file_name=given["file"]["name"]))
            return upload_dataset_file.sync_detailed(given["account_id"], given["dataset_id"], client=client, body=form)


def outcome_of(row):
    lacking = LACKS.intersection(row["needs"])
    if lacking:
        return {"skipped": lacking.pop()}
    limit = httpx.Timeout(row["options"].get("timeoutMs", 10_000) / 1000)
    client = AuthenticatedClient(base_url=row["baseUrl"], token=row["apiKey"], timeout=limit)
    outcome = {}
    for _ in range(row["calls"]):
        try:
            answer = call(row, client)
            if answer.status_code == 200 and hasattr(answer.parsed, "to_dict"):
                outcome = {"value": answer.parsed.to_dict(), "attempts": 1}
            else:
                # What it hands on of an error: the status, and the body as bytes.
                outcome = failure(answer.content.decode("utf-8", "replace")[:4096])
        except Exception as error:
            outcome = failure(f"{type(error).__name__}: {error}")
    return outcome


def failure(message):
    return {"code": "UNKNOWN", "executed": "unknown", "attempts": 1, "message": message}


def work(runner):
    while True:
        row = httpx.get(f"{runner}/next", timeout=60, trust_env=False).json()
        if "done" in row:
            return
        outcome = {"id": row["id"], **outcome_of(row)}
        answer = httpx.post(f"{runner}/outcome", content=json.dumps(outcome), timeout=60, trust_env=False)
        if answer.is_error:
            raise SystemExit(answer.text)


with ThreadPoolExecutor(8) as workers:
    for done in [workers.submit(work, sys.argv[1]) for _ in range(8)]:
        done.result()
