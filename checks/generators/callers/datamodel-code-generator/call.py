"""Reads the jobs with the models that datamodel-code-generator made; it makes no calls of its own."""

import json
import os
from typing import Any
from urllib.request import Request, urlopen

from model import ReinforcementFineTuningJob

base = os.environ["TUNERANK_BASE_URL"]


def resume(id: str) -> dict[str, Any]:
    url = f"{base}/v1/accounts/acme/reinforcementFineTuningJobs/{id}:resume"
    request = Request(url, b"{}", {"content-type": "application/json"}, method="POST")
    with urlopen(request) as response:
        job = ReinforcementFineTuningJob.model_validate_json(response.read())
    scheduler = job.trainingConfig.lrScheduler if job.trainingConfig else None
    schedule = scheduler.cosine if scheduler else None
    seconds = job.acceleratorSeconds.model_dump() if job.acceleratorSeconds else None
    return {
        "state": plain(job.state),
        "code": plain(job.status.code) if job.status else None,
        "percent": job.jobProgress.percent if job.jobProgress else None,
        "displayName": job.displayName,
        "minLrRatio": schedule.minLrRatio if schedule else None,
        "acceleratorSeconds": (seconds or {}).get("accelerator-type-a"),
    }


def plain(value: Any) -> Any:
    return getattr(value, "root", value)


def try_resume(id: str) -> dict[str, Any]:
    try:
        return resume(id)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


print(json.dumps({"jobs": {id: try_resume(id) for id in os.environ["TUNERANK_JOBS"].split(",")}}))
