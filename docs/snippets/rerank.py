import json
import os
from urllib.request import Request, urlopen

request = Request(
    f"{os.environ['TUNERANK_BASE_URL']}/inference/v1/rerank",
    method="POST",
    headers={
        "Authorization": f"Bearer {os.environ['TUNERANK_API_KEY']}",
        "Content-Type": "application/json",
    },
    data=json.dumps({
        "query": "I forgot my password",
        "documents": ["Choose Reset on the sign-in page.", "Invoices are PDF files."],
        "top_n": 1,
    }).encode(),
)
with urlopen(request, timeout=60) as response:
    for result in json.load(response)["data"]:
        print(result["index"], result["relevance_score"])
