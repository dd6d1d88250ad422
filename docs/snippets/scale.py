import json
import os
from urllib.request import Request, urlopen

account = os.environ["TUNERANK_ACCOUNT_ID"]
request = Request(
    f"{os.environ['TUNERANK_BASE_URL']}/v1/accounts/{account}/deployments/support-search:scale",
    method="PATCH",
    headers={
        "Authorization": f"Bearer {os.environ['TUNERANK_API_KEY']}",
        "Content-Type": "application/json",
    },
    data=json.dumps({"replicaCount": 2}).encode(),
)
with urlopen(request, timeout=30) as response:
    print(response.status)
