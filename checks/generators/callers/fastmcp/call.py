"""Calls the tools that FastMCP made of the document, through a client of MCP, over stdio."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import PythonStdioTransport
from fastmcp.exceptions import ToolError

env = {name: os.environ[name] for name in ("PATH", "TUNERANK_BASE_URL", "TUNERANK_API_KEY")}
transport = PythonStdioTransport(Path(__file__).with_name("server.py"), env=env)


async def resume(client: Client[Any], id: str) -> dict[str, Any]:
    # The tool's schema asks for the body. Where a model leaves it out, nothing is sent.
    arguments = {"account_id": "acme", "reinforcement_fine_tuning_job_id": id, "body": {}}
    result = await client.call_tool("resumeReinforcementFineTuningJob", arguments)
    job: Any = result.structured_content or {}
    scheduler = (job.get("trainingConfig") or {}).get("lrScheduler") or {}
    return {
        "state": job.get("state"),
        "code": (job.get("status") or {}).get("code"),
        "percent": (job.get("jobProgress") or {}).get("percent"),
        "displayName": job.get("displayName"),
        "minLrRatio": (scheduler.get("cosine") or {}).get("minLrRatio"),
        "acceleratorSeconds": (job.get("acceleratorSeconds") or {}).get("accelerator-type-a"),
    }


async def try_resume(client: Client[Any], id: str) -> dict[str, Any]:
    try:
        return await resume(client, id)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


async def fail(client: Client[Any], id: str) -> tuple[Any, str]:
    try:
        await client.call_tool("scaleDeployment", {"account_id": "acme", "deployment_id": id, "replicaCount": 0})
    except ToolError as error:
        status = re.search(r"HTTP error (\d+)", str(error))
        return (int(status[1]) if status else str(error)), str(error)
    return "no failure", ""


async def main() -> None:
    async with Client(transport) as client:
        tools = await client.list_tools()
        assert len(tools) == 4, f"{len(tools)} tools"
        assert "Not stated" not in str(tools), "a model reads what is not stated"
        resumed = await resume(client, "answer-quality")
        request = {
            "query": "capital of France",
            "documents": ["Rome.", "Lyon.", "Paris."],
            "model": "accounts/acme/models/reranker-small",
            "top_n": 3,
            "return_documents": True,
            "task": "Find the capital.",
        }
        ranked: Any = (await client.call_tool("rerankDocuments", request)).structured_content or {}
        best = ranked["data"][0]
        desired = {"account_id": "acme", "deployment_id": "support-search", "replicaCount": 2}
        scaled = (await client.call_tool("scaleDeployment", desired)).structured_content
        status, text = await fail(client, "missing")
        code = re.search(r"'code': '(\w+)'|\"code\": ?\"(\w+)\"", text)
        rows = range(int(os.environ["TUNERANK_ERRORS"]))
        readings = {
            "resume": resumed,
            "rerank": {
                "index": best["index"],
                "relevanceScore": best["relevance_score"],
                "document": best["document"],
            },
            "scale": scaled,
            "error": {"status": status, "code": (code[1] or code[2]) if code else text},
            "jobs": {id: await try_resume(client, id) for id in os.environ["TUNERANK_JOBS"].split(",")},
            "errors": [(await fail(client, f"error-{row}"))[0] for row in rows],
        }
    print(json.dumps(readings))


asyncio.run(main())
