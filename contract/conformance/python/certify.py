"""Runs client.py against `npx tunerank conformance`: python certify.py http://127.0.0.1:4020 [rows at once]"""

import asyncio, base64, json, ssl, sys
from subprocess import PIPE

import httpx

from client import Client, ServiceError

# httpx takes what follows an answer for the next one; asyncio drops what came before a connection was lost.
LACKS = {"abort", "status-101", "bytes-behind", "early-close", "proxy-environment"}
WORKERS = int(sys.argv[2]) if len(sys.argv) > 2 else 16


def options_of(row):
    known = {"maxRetries": "max_retries", "timeoutMs": "timeout_ms", "attemptTimeoutMs": "attempt_timeout_ms"}
    known["connectTimeoutMs"] = "connect_timeout_ms"
    options = {known[name]: value for name, value in row["options"].items() if name in known}
    if "caCertificate" in row:
        options["tls"] = ssl.create_default_context(cadata=row["caCertificate"])
    return {**options, "proxy": row.get("proxy")}


def key_of(row):
    keys = iter(row.get("apiKeys", []))
    last = row.get("apiKeys", [""])[-1]
    return (lambda: next(keys, last)) if "apiKeys" in row else row["apiKey"]


def arguments_of(given):
    if "file" in given:
        file = given["file"]
        unit = base64.b64decode(file["base64"]) if "base64" in file else file["content"].encode()
        size = file.get("bytes", len(unit))
        given["file"] = {"name": file["name"], "content": (unit * (size // max(1, len(unit)) + 1))[:size]}
    return given


async def outcome_in_programs(row):
    for _ in range(row["programs"]):
        program = await asyncio.create_subprocess_exec(sys.executable, "-B", __file__, stdin=PIPE, stdout=PIPE)
        printed, _ = await program.communicate(json.dumps(row).encode())
    return json.loads(printed)


async def outcome_of(row):
    client, repeatable, arguments = None, row["options"].get("repeatable"), arguments_of(row["arguments"])
    outcome, clients = {}, {}
    for made in range(row["calls"]):
        if client is None or "newClientPerCall" in row:
            await client.close() if client else None
            client = Client(row["baseUrl"], key_of(row), **options_of(row))
        if "keyPerCall" in row:
            key = row["keyPerCall"][made]
            client = clients[key] = clients.get(key) or Client(row["baseUrl"], key, **options_of(row))
        try:
            if "parallel" in row:
                calls = (client.call(row["operation"], arguments_of(given), repeatable) for given in row["parallel"])
                outcome = {"values": [value for value, _ in await asyncio.gather(*calls)]}
                continue
            value, attempts = await client.call(row["operation"], arguments, repeatable)
            value = base64.b64encode(value).decode() if isinstance(value, bytes) else value
            outcome = {"value": value, "attempts": attempts, "capabilities": ["unknown-members", "int64"]}
        except ServiceError as error:
            outcome = {
                "code": error.code, "executed": error.executed, "attempts": error.attempts, "message": str(error),
                "inferred": error.inferred, "codeSource": error.code_source, "notRetried": error.not_retried,
                "retryAfterMs": error.retry_after_ms, "text": f"{error!r} {vars(error)}",
            }
    await client.close()
    return outcome


async def work(runner, http):
    while True:
        row = (await http.get(f"{runner}/next")).json()
        if "done" in row:
            return
        lacking = LACKS.intersection(row["needs"])
        outcome = {"skipped": lacking.pop()} if lacking else await (outcome_in_programs if "programs" in row else outcome_of)(row)
        answer = await http.post(f"{runner}/outcome", json={"id": row["id"], **outcome})
        if answer.is_error:
            raise SystemExit(f"{row['id']}: {answer.text}")


async def main(runner):
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        await asyncio.gather(*(work(runner, http) for _ in range(WORKERS)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(sys.argv[1]))
    else:  # One row, of which another program asks for the outcome.
        print(json.dumps(asyncio.run(outcome_of(json.load(sys.stdin)))))
