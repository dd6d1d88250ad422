import json
import os
from urllib.request import Request, urlopen

account = os.environ["TUNERANK_ACCOUNT_ID"]
request = Request(
    f"{os.environ['TUNERANK_BASE_URL']}/v1/accounts/{account}/reinforcementFineTuningJobs/answer-quality:resume",
    method="POST",
    headers={
        "Authorization": f"Bearer {os.environ['TUNERANK_API_KEY']}",
        "Content-Type": "application/json",
    },
    data=b"{}",
)
with urlopen(request, timeout=30) as response:
    print(json.load(response)["state"])
