"""A bank in FastAPI: a transfer is carried out only with a verdict of the hosted capture page that this server has checked."""

import os
import socket
import sys
from typing import Annotated
from urllib.parse import unquote

import uvicorn
from countersign import ACTIVE_ACR, ApiError, Countersign, CountersignError, VerdictError
from fastapi import Cookie, Depends, FastAPI, HTTPException, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel

countersign = Countersign(
    base_url=os.environ["CS_BASE_URL"],
    api_key=os.environ["CS_API_KEY"],
    signing_secret=os.environ["CS_SIGNING_SECRETS"],
    tenant_id=os.environ["CS_TENANT_ID"],
    # The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
    accept_evaluation_grade=os.environ.get("CS_ACCEPT_EVALUATION") == "true",
)

# Transfers that wait for a face, by the id of their session, and who is to confirm them. Stands for your database.
waiting = {}

app = FastAPI()


def signed_in(user: Annotated[str, Cookie()] = "") -> str:
    """Stands for your own session: who is signed in."""
    return unquote(user)


User = Annotated[str, Depends(signed_in)]
# Stands for your own session too: the capture session that this sign-in began.
Began = Annotated[str, Cookie()]


class Transfer(BaseModel):
    amount: str
    to: str


# A page with one button. It signs in a user of the sandbox whom every check approves.
PAGE = """<!doctype html><meta charset="utf-8"><title>Bank</title><button>Send 1250.00 EUR to Grace</button><script>
  document.querySelector('button').onclick = async () => {
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ amount: '1250.00', to: 'Grace' })
    const { url, message } = await (await fetch('/transfers', { method: 'POST', headers, body })).json()
    if (url) location = url
    else alert(message)
  }
</script>"""


@app.get("/", response_class=HTMLResponse)
def page():
    cookie = "user=ada%2Bmatch; Path=/; HttpOnly; SameSite=Lax"
    return HTMLResponse(PAGE, headers={"Set-Cookie": cookie})


# FastAPI runs these functions in threads, because they are not `async`: the client waits for the service.
@app.post("/transfers", status_code=201)
def ask_for_transfer(transfer: Transfer, user: User, response: Response):
    action = {"type": "transfer", "amount": transfer.amount, "to": transfer.to}
    link = countersign.create_capture_session(
        user,
        action=action,
        require_liveness="active",
        description=f"Transfer of {transfer.amount} EUR to {transfer.to}",
        return_url=f"{bank_url}/confirmed",
    )
    waiting[link.session_id] = (user, action)
    response.set_cookie("began", link.session_id, httponly=True, samesite="lax")
    return {"url": link.url}


# The page leads back here. Anybody may have sent the address: it has to be that of the transfer which this very sign-in began.
@app.get("/confirmed")
def confirmed(user: User, began: Began = "", capture_session: str = "", capture_proof: str = ""):
    owner, action = waiting.get(capture_session, (None, None))
    if owner is None or owner != user or began != capture_session:
        raise HTTPException(404, "Nothing waits to be confirmed.")
    # Only the browser that captured brings the proof. Another one may be that of a person who passed the link on.
    session = countersign.get_capture_session(capture_session, proof=capture_proof)
    if session.status in ("open", "in_progress"):
        raise HTTPException(409, "This is not confirmed yet.")
    if session.result_withheld:
        raise HTTPException(403, "Please go back to the browser in which you confirmed.")
    # The transfer no longer waits, whether it is carried out or not.
    if waiting.pop(capture_session, None) is None:
        raise HTTPException(404, "Nothing waits to be confirmed.")
    # Raises a VerdictError unless it is an approval of this action by this user in this session, used for the first time.
    claims = countersign.verify_verdict(
        session, user_id=user, action=action, capture_session_id=capture_session, acr=ACTIVE_ACR
    )
    # Here the money moves.
    return {"done": action, "countersigned": claims.jti}


@app.exception_handler(HTTPException)
def on_refusal(_request, error: HTTPException):
    return JSONResponse({"message": error.detail}, error.status_code)


@app.exception_handler(CountersignError)
def on_error(_request, error: CountersignError):
    print(error, file=sys.stderr)
    # Rejected, cancelled, expired, or not of this person: the log says which.
    if isinstance(error, VerdictError):
        return JSONResponse({"message": "Not confirmed."}, 403)
    if isinstance(error, ApiError) and error.code == "reference_not_found":
        return JSONResponse({"message": "Please set up your face first."}, 409)
    # Too many rejections: trying again now would be refused again.
    if isinstance(error, ApiError) and error.code == "locked_out":
        return JSONResponse({"message": "No more tries for now. Please ask for another way."}, 403)
    return JSONResponse({"message": "Please try again later."}, 503)


listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "3000"))))
# Where browsers reach this bank. Its origin must be allowed: countersign tenant capture-page <tenant> --return-origin …
bank_url = os.environ.get("BANK_URL") or f"http://127.0.0.1:{listener.getsockname()[1]}"
print(bank_url, flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
