"""Drives the Python SDK by the line protocol of README.md; with the argument `async`, its client for asyncio."""

import asyncio
import dataclasses
import inspect
import json
import sys

import countersign as sdk

clients, secrets, now = {}, {}, [0.0]
is_async = sys.argv[1:] == ["async"]
loop = asyncio.new_event_loop()

KINDS = {
    sdk.ApiError: "api",
    sdk.ConnectionError: "connection",
    sdk.TimeoutError: "timeout",
    sdk.UnexpectedResponseError: "unexpected",
    sdk.SignatureError: "signature",
    sdk.VerdictError: "verdict",
}


def new_client(name, options):
    secrets[name] = options.pop("signing_secret")
    make = sdk.AsyncCountersign if is_async else sdk.Countersign
    clients[name] = make(**options, signing_secret=lambda: secrets[name], now=lambda: now[0])


async def all_of(entries):
    return [entry async for entry in entries]


def done(value):
    """The result of a call of either client."""
    if inspect.isasyncgen(value):
        value = all_of(value)
    return loop.run_until_complete(value) if inspect.isawaitable(value) else value


def verify_verdict(client, request):
    session_id, proof = request.pop("session_id", None), request.pop("proof", None)
    token = request.pop("token", None)
    if session_id is not None:
        token = done(client.get_capture_session(session_id, proof=proof))
    elif isinstance(token, dict):
        token = verified[token["verification_id"]]
    return done(client.verify_verdict(token, **request))


#: Answers of verify by id, because verify_verdict takes the answer itself.
verified = {}


def run(command):
    what, name, request = command["do"], command["name"], command.get("request") or {}
    if what == "client":
        return new_client(name, command["options"])
    if what == "secrets":
        secrets[name] = request
        return None
    client = clients[name]
    if what == "verify_verdict":
        return verify_verdict(client, request)
    if what == "verify_webhook":
        return done(client.verify_webhook(request["headers"], request["body"].encode()))
    options = sdk.CallOptions(**(command.get("options") or {}))
    answer = done(getattr(client, what)(**request, options=options))
    if what == "audit_entries":
        return list(answer)
    if what == "verify":
        verified[answer.verification_id] = answer
    return answer


def plain(value):
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not dataclasses.is_dataclass(value):
        return value
    members = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    return {name: plain(member) for name, member in members.items() if name not in ("raw", "response")}


def respond(command):
    now[0] = command["now"]
    try:
        value = run(command)
    except sdk.CountersignError as error:
        said = {"kind": KINDS[type(error)], "message": str(error)}
        for name in ("code", "status", "request_id", "remedy", "category", "reason", "attempts"):
            said[name] = getattr(error, name, None)
        said["retry_after_seconds"] = getattr(error, "retry_after_seconds", None)
        said["verified"] = getattr(error, "verified", None)
        said["details"] = [dict(detail.raw) for detail in getattr(error, "details", ())]
        return {"error": said}
    except (TypeError, ValueError) as error:
        return {"error": {"kind": "argument", "message": str(error)}}
    said = {"value": plain(value)}
    info = getattr(value, "response", None)
    if info is not None:
        said["response"] = {
            name: getattr(info, name)
            for name in ("status", "attempts", "replayed", "request_id", "retry_after_seconds")
        }
    return said


if sys.argv[1:] == ["where"]:
    print(sdk.__file__)
    sys.exit()
for line in sys.stdin:
    print(json.dumps(respond(json.loads(line))), flush=True)
