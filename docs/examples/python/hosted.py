"""A bank that has transfers confirmed on the hosted capture page: it sends the person there and acts when they are back."""

import json
import os
import sys
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from countersign import ACTIVE_ACR, ApiError, Countersign, CountersignError, VerdictError

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


def ask_for_transfer(user, amount, to):
    action = {"type": "transfer", "amount": str(amount), "to": str(to)}
    link = countersign.create_capture_session(
        user,
        action=action,
        require_liveness="active",
        description=f"Transfer of {action['amount']} EUR to {action['to']}",
        return_url=f"{bank_url}/confirmed",
    )
    waiting[link.session_id] = (user, action)
    return 201, {"url": link.url}, f"began={link.session_id}; Path=/; HttpOnly; SameSite=Lax"


def confirmed(user, began, session_id, proof):
    # Anybody may have sent the address: it has to be that of the transfer which this very sign-in began.
    owner, action = waiting.get(session_id, (None, None))
    if owner is None or owner != user or began != session_id:
        return 404, {"message": "Nothing waits to be confirmed."}
    # Only the browser that captured brings the proof. Another one may be that of a person who passed the link on.
    session = countersign.get_capture_session(session_id, proof=proof)
    if session.status in ("open", "in_progress"):
        return 409, {"message": "This is not confirmed yet."}
    if session.result_withheld:
        return 403, {"message": "Please go back to the browser in which you confirmed."}
    # The transfer no longer waits, whether it is carried out or not.
    if waiting.pop(session_id, None) is None:
        return 404, {"message": "Nothing waits to be confirmed."}
    claims = countersign.verify_verdict(
        session, user_id=user, action=action, capture_session_id=session_id, acr=ACTIVE_ACR
    )
    return 200, {"done": action, "countersigned": claims.jti}


class Bank(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == "/transfers":
            self.answer(lambda: ask_for_transfer(self.kept("user"), body["amount"], body["to"]))
        else:
            self.send_error(404)

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/confirmed":
            query = parse_qs(url.query)
            session_id, proof = (query.get(name, [""])[0] for name in ("capture_session", "capture_proof"))
            self.answer(lambda: confirmed(self.kept("user"), self.kept("began"), session_id, proof))
        else:
            self.send_error(404)

    def kept(self, name):
        """Stands for your own session: who is signed in, and the capture session that this sign-in began."""
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get(name)
        return unquote(cookie.value) if cookie else ""

    def answer(self, act):
        cookies = []
        try:
            status, body, *cookies = act()
        except VerdictError as error:
            # Rejected, cancelled, expired, or not of this person: the log says which.
            print(error, file=sys.stderr)
            status, body = 403, {"message": "Not confirmed."}
        except CountersignError as error:
            print(error, file=sys.stderr)
            if isinstance(error, ApiError) and error.code == "reference_not_found":
                status, body = 409, {"message": "Please set up your face first."}
            elif isinstance(error, ApiError) and error.code == "locked_out":
                # Too many rejections: trying again now would be refused again.
                status, body = 403, {"message": "No more tries for now. Please ask for another way."}
            else:
                status, body = 503, {"message": "Please try again later."}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for cookie in cookies:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Bank)
# Where browsers reach this bank. Its origin must be allowed: countersign tenant capture-page <tenant> --return-origin …
bank_url = os.environ.get("BANK_URL") or f"http://127.0.0.1:{server.server_port}"
print(bank_url, flush=True)
server.serve_forever()
