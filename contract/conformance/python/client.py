"""A client of the service on httpx, written from contract/conformance/README.md; see certify.py for how it is proved."""

import asyncio, email.utils, functools, json, math, random, re, socket, ssl, time
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from urllib.parse import quote
import httpx

_data = Path(__file__).resolve().parent.parent
P, _operations = (json.loads((_data / f"{name}.json").read_text()) for name in ("parameters", "operations"))
OPERATIONS, ORDER, TLS = _operations["operations"], P["executed"]["order"], httpx.create_ssl_context()

class ServiceError(Exception):
    attempts, not_retried, retry_after_ms, status, reused = 0, None, None, None, False

    def __init__(self, code, message, executed, events, code_source, inferred=True, **more):
        super().__init__(f"[{code}] {message}")
        self.__dict__.update(more, code=code, executed=executed, events=events, code_source=code_source, inferred=inferred)

def _in(value, field):
    for name in field.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value

def _ms(text, unit):
    number = re.fullmatch(r"\d+(\.\d+)?", (text or "").strip()[:99])
    return number and math.ceil(round(float(number[0]) * unit, 6))

def _pairs(names, given):
    lists = [(name, v if isinstance(v := given[name], list) else [v]) for name in names if name in given]
    return [(name, v if isinstance(v, str) else json.dumps(v)) for name, values in lists for v in values]

def _date(text):
    return (date := email.utils.parsedate_tz(text or "")) and email.utils.mktime_tz(date) * 1000

def _wait_asked(headers, body):
    details = _in(body, "error.details") or _in(body, "details")
    items = details if isinstance(details, list) else []
    delays = [str(_in(item, "retryDelay")) for item in items if str(_in(item, "@type")).endswith("google.rpc.RetryInfo")]
    lines = headers.get_list("retry-after")
    asked = [_ms(text, 1) for text in headers.get_list("retry-after-ms")] + [_ms(text, 1000) for text in lines]
    asked += [_ms(delay[:-1], 1000) for delay in delays if delay.endswith("s")]
    now = _date(headers.get("date")) or time.time() * 1000
    asked += [until and max(0, int(until - now)) for until in map(_date, lines)]
    return max((ms for ms in asked if ms is not None), default=None)

def _code(body, status):
    found, code = [_in(body, field) for field in P["errorBody"]["codeFields"]], _in(body, "code")
    if isinstance(code, str) and re.fullmatch("[a-z_]+", code):
        found.append("CANCELLED" if code == "canceled" else code.upper())
    if type(code) is int:
        found += [name for name, row in P["codes"].items() if (row["grpcNumber"], row["httpStatus"]) == (code, status)]
    return next((name for name in found if isinstance(name, str) and name in P["codes"]), None)

def _plain(text):
    if not text.startswith("<"):
        return " ".join(text[:500].split())
    words = re.findall(r"(?i)<title[^>]*>([^<]+)<", text) or [re.sub(r"<[^>]*>", " ", text)]
    return " ".join(words[0].split())[:200]

def _message(body):
    detail = _in(body, "detail")
    items = [_in(item, "msg") for item in detail] if isinstance(detail, list) else []
    found = [_in(body, "error.message"), _in(body, "error"), _in(body, "message"), _in(body, "Message"), detail]
    found += ["; ".join(item for item in items if isinstance(item, str)), _in(body, "title"), body]
    return next((value.strip() for value in found if isinstance(value, str) and value.strip()), "")

def _json(text):
    try:
        return json.loads(text), True
    except ValueError:
        return None, False

def read_error(status, headers, text, keys):
    body, is_json = _json(text)
    body = body[0] if isinstance(body, list) and len(body) == 1 else body
    named, asked = None if 300 <= status < 400 else _code(body, status), _wait_asked(headers, body)
    row = next(r for r in P["statuses"] for s in r["statuses"] if int(s[:3]) <= status <= int(s[-3:]))
    agree = named and P["codes"][named]["httpStatus"] == status
    events = ([P["codes"][named]["event"]] if named else []) + ([] if agree else [row["event"]])
    events = ["exhaustedTimed" if e == "exhausted" and asked is not None else e for e in events]
    message = "" if status < 400 else _message(body) if is_json else _plain(text)
    message = functools.reduce(lambda text, key: text.replace(key, "[redacted]"), keys, message) or f"HTTP {status} without a message."
    executed = max((P["events"][e]["executed"] for e in events), key=ORDER.index)
    chosen = ("body", False) if named else ("status", status not in row["notInferred"])
    return ServiceError(named or row["code"], message, executed, events, *chosen, status=status, retry_after_ms=asked)

def _number(value):
    return type(value) in (int, float) and math.isfinite(value)

def _incomplete(operation, answer):
    if operation == "uploadDatasetFile":
        return not isinstance(answer.get("id"), str)
    entries = answer.get("data") if operation == "rerankDocuments" else []
    fields = [(_in(entry, "index"), _in(entry, "relevance_score")) for entry in entries] if isinstance(entries, list) else [(None, None)]
    return any(not _number(index) or index % 1 or not _number(score) for index, score in fields)

def network_error(error, reached):
    chain = [error] if reached != "body" else []
    while chain and (cause := chain[-1].__cause__ or chain[-1].__context__):
        chain.append(cause)
    if isinstance(error, httpx.ProxyError):
        statuses = {"407": "tunnel-credentials", "5": "tunnel-failed", "": "tunnel-refused"}
        name = next(name for status, name in statuses.items() if str(error).startswith(status))
    elif any(isinstance(each, ssl.SSLError) and not isinstance(each, ssl.SSLEOFError) for each in chain):
        name = "tls-untrusted"
    elif any(isinstance(each, socket.gaierror) and each.errno == socket.EAI_NONAME for each in chain):
        name = "name-not-found"
    else:
        before = "connect-stalls" if isinstance(error, httpx.ConnectTimeout) else "refused"
        name = {"connect": before, "sent": "reset-before-headers", "body": "body-truncated"}[reached]
    row = P["network"][name]
    return ServiceError(row["code"], f"The network failed ({name}).", row["executed"], [row["event"]], "transport")

class Client:
    # The key is a text, or a function that is asked before every attempt.
    def __init__(self, base_url, api_key, max_retries=P["maxRetries"], timeout_ms=None, attempt_timeout_ms=None,
                 connect_timeout_ms=P["deadlines"]["connectTimeoutMs"], tls=TLS, proxy=None):
        self.base_url, self.api_key, self.max_retries, self.proxy = base_url.rstrip("/"), api_key, max_retries, proxy
        self.timeout_ms, self.attempt_timeout_ms, self.budget = timeout_ms, attempt_timeout_ms, P["budget"]["retries"] * 10
        self.keys = set()  # every key that was used, which no error shows
        options = {"verify": tls, "proxy": proxy, "trust_env": False, "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=[])), "timeout": httpx.Timeout(None, connect=connect_timeout_ms / 1000)}
        # What may not be sent twice never takes a connection that was idle.
        self.fresh = httpx.AsyncClient(**options, limits=httpx.Limits(max_keepalive_connections=0))
        self.pooled = httpx.AsyncClient(**options)

    async def close(self):
        await asyncio.gather(self.pooled.aclose(), self.fresh.aclose())

    async def call(self, operation, arguments, repeatable=None):
        """The value of a good answer, and how many attempts it took. Raises ServiceError."""
        safe, d = OPERATIONS[operation]["repeatable"] if repeatable is None else repeatable, P["deadlines"]
        column = operation if repeatable is None else "rerankDocuments" if safe else "resumeReinforcementFineTuningJob"
        if {"", ".", ".."} & {arguments.get(name) for name in re.findall(r"{(\w+)}", OPERATIONS[operation]["path"])}:
            raise ServiceError("INVALID_ARGUMENT", "An id leads to another place.", "no", [], "client", not_retried="refused")
        if self.proxy and self.base_url.startswith("http:"):
            raise ServiceError("INVALID_ARGUMENT", "The proxy would see the key.", "no", [], "client", not_retried="refused")
        size = len(arguments["file"]["content"]) if "file" in arguments else 0
        total = self.timeout_ms or d["timeoutMs"][operation] + size * 1000 / d["uploadBytesPerSecond"]
        each = self.attempt_timeout_ms or total * d["attemptShare"]["repeatable" if safe and self.max_retries else "else"]
        ends, retries, worst, renewed, fresh, free = time.monotonic() + total / 1000, 0, "no", False, not safe, 1
        while True:
            left = (ends - time.monotonic()) * 1000
            try:
                value = await self._attempt(operation, arguments, (min(each, left), each >= left), fresh)
                self.budget = min(P["budget"]["retries"] * 10, self.budget + 1)
                return value, retries + 1
            except ServiceError as error:
                worst = max(worst, error.executed, key=ORDER.index)
                wait = self._decide(error, (column, safe, retries, renewed), (ends - time.monotonic()) * 1000)
                if wait is None:
                    error.executed, error.attempts = worst, retries + 1
                    raise
                renewed, fresh = renewed or "unauthenticated" in error.events, fresh or error.status == 421 or error.reused
                # One retry after the loss of a connection that had served a call costs nothing.
                cost, free = (0, 0) if error.reused and free else (10, free)
            self.budget, retries = self.budget - cost, retries + 1
            await asyncio.sleep(wait / 1000)

    def _decide(self, error, made, left):
        """How long to wait before another attempt; None where there is none, and error.not_retried says why."""
        (column, safe, retries, renewed), asked, b = made, error.retry_after_ms or 0, P["backoff"]
        rows, renewing = [P["events"][e]["retries"] for e in error.events], "unauthenticated" in error.events
        most = min(row[column] for row in rows)
        base = b["exhaustedBaseMs"] if error.code == "RESOURCE_EXHAUSTED" else b["baseMs"]
        wait = max(asked, 0 if renewing else random.random() * min(b["capMs"], base * b["factor"] ** retries))
        unsafe = not safe and all(row["rerankDocuments"] for row in rows)
        why = "no-retry-after" if error.executed == "no" else "not-safe"
        reasons = [
            (error.not_retried or "refused" in error.events, error.not_retried or "refused"),
            (most == 0, why if unsafe else "not-transient"),
            (renewing and (renewed or not callable(self.api_key)), "retries-used-up" if retries else "refused"),
            (asked > P["retryAfter"]["longestMs"], "asked-to-wait-too-long"),
            ((0 if renewing else retries) >= most or retries >= self.max_retries, "retries-used-up"),
            (self.budget < 10, "budget"),
            (wait >= left, "deadline-too-close"),
        ]
        error.not_retried = next((why for holds, why in reasons if holds), None)
        return None if error.not_retried else wait

    async def _attempt(self, operation, arguments, time_left, fresh):
        (ms, deadline), seen = time_left, {"reached": "connect"}
        try:
            return await asyncio.wait_for(self._send(operation, arguments, fresh, seen), ms / 1000)
        except asyncio.TimeoutError:
            event = {"connect": "neverConnected", "sent": "attemptTimeout", "body": "bodyLost"}[seen["reached"]]
            why = {"not_retried": "deadline-too-close" if deadline else None}
            raise ServiceError("DEADLINE_EXCEEDED", "Too late.", P["events"][event]["executed"], [event], "client", **why) from None
        except (httpx.HTTPError, OSError) as error:
            failure = network_error(error, seen["reached"])
            failure.reused = seen["reached"] == "sent" and "connected" not in seen
            raise failure from None

    async def _send(self, operation, arguments, fresh, seen):
        o, key = OPERATIONS[operation], self.api_key() if callable(self.api_key) else self.api_key
        self.keys.add(key)
        path = re.sub(r"{(\w+)}", lambda name: quote(arguments[name[1]], safe=""), o["path"])
        file = arguments.get("file") and {**arguments["file"], "name": re.split(r"[/\\]", arguments["file"]["name"])[-1]}
        body = {"files": {o["part"]: (file["name"], file["content"])}} if file else {"json": arguments.get("body")}
        async def trace(event, info):
            if event == "connection.connect_tcp.started":
                seen["connected"] = True
            if event.endswith("send_request_headers.started") and info["request"].method != b"CONNECT":
                seen["reached"] = "sent"
        more = {**body, "params": _pairs(o.get("query", []), arguments) or None, "extensions": {"trace": trace}}
        more["headers"] = {**dict(_pairs(o.get("headers", []), arguments)), "authorization": f"Bearer {key}"}
        async with (self.fresh if fresh else self.pooled).stream(o["method"], self.base_url + path, **more) as answer:
            good, data = answer.is_success, bytearray()
            seen["reached"], caps = "body" if good else "sent", P["answers"]
            most = caps["maxBytes"][operation] if good else caps["maxErrorBytes"]
            try:
                async for part in answer.aiter_bytes():
                    data += part
                    if len(data) > most:
                        break
            except httpx.HTTPError:
                if good:
                    raise
        if good and len(data) > most:
            raise ServiceError("RESOURCE_EXHAUSTED", "The answer is too large.", "yes", ["tooLarge"], "client")
        text = data[:most].decode("utf-8", "replace").lstrip("\ufeff").strip()
        if not good:
            raise read_error(answer.status_code, answer.headers, text, self.keys)
        if not isinstance(o.get("answer"), dict):
            return bytes(data) if "answer" in o else {}
        if isinstance(value := _json(text)[0], dict) and not _incomplete(operation, value):
            return value
        event = "html" if text.startswith("<") else "notJson" if answer.status_code == 200 else "otherSuccess"
        event = "incomplete" if isinstance(value, dict) else event
        raise ServiceError("INTERNAL", "The answer is not the JSON object that was promised.", P["events"][event]["executed"], [event], "client")
