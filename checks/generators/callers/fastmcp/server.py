"""The server that FastMCP makes of the document, over stdio."""

import json
import os
from pathlib import Path

import httpx2
from fastmcp import FastMCP

headers = {"Authorization": f"Bearer {os.environ['TUNERANK_API_KEY']}"}
client = httpx2.AsyncClient(base_url=os.environ["TUNERANK_BASE_URL"], headers=headers)
document = json.loads(Path(__file__).with_name("openapi-client.json").read_text())
FastMCP.from_openapi(openapi_spec=document, client=client).run(show_banner=False)
