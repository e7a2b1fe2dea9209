"""Takes the webhooks of a Countersign: checks the signature over the raw body, answers at once, acts once."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from countersign import SignatureError, verify_webhook

SECRETS = os.environ["CS_SIGNING_SECRETS"]
# One secret signs for both environments, so events of the other environment are refused.
ENVIRONMENT = "sandbox" if os.environ.get("CS_ENVIRONMENT") == "sandbox" else "production"
LARGEST_BODY_BYTES = 64 * 1024

# Events that were seen: in your database, for a week, with a unique index on the id.
seen = set()


def act(event):
    if event.type == "user.locked_out":
        print(f"{event.data['user_id']} is locked out until {event.data['ends_at']}", flush=True)
    elif event.type == "user.erased":
        print(f"{event.data['user_id']} is erased: {event.data['erasure_id']}", flush=True)
    else:
        print(event.type, flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The raw bytes: what has been parsed and written again is not what was signed.
        length = int(self.headers.get("Content-Length", 0))
        if length > LARGEST_BODY_BYTES:
            return self.answer(413)
        body = self.rfile.read(length)
        try:
            event = verify_webhook(dict(self.headers), body, SECRETS, environment=ENVIRONMENT)
        except SignatureError as error:
            print(error.code, flush=True)
            return self.answer(400)
        # Before the work, which may take longer than the service waits.
        self.answer(204)
        if event.id not in seen:
            seen.add(event.id)
            act(event)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3001"))), Receiver)
print(f"http://127.0.0.1:{server.server_port}/countersign", flush=True)
server.serve_forever()
