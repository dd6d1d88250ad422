import json
import os
from urllib.request import Request, urlopen
from uuid import uuid4

account = os.environ["TUNERANK_ACCOUNT_ID"]
boundary = uuid4().hex
with open("examples/train.jsonl", "rb") as file:
    body = b"\r\n".join([
        f"--{boundary}".encode(),
        b'Content-Disposition: form-data; name="file"; filename="train.jsonl"',
        b"Content-Type: application/octet-stream",
        b"",
        file.read(),
        f"--{boundary}--".encode(),
        b"",
    ])
request = Request(
    f"{os.environ['TUNERANK_BASE_URL']}/v1/accounts/{account}/datasets/support-answers:upload",
    method="POST",
    headers={
        "Authorization": f"Bearer {os.environ['TUNERANK_API_KEY']}",
        "Content-Type": f"multipart/form-data; boundary={boundary}",
    },
    data=body,
)
with urlopen(request, timeout=60) as response:
    print(json.load(response)["filename"])
