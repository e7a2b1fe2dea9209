"""Enrols a face, has an action countersigned, checks the verdict, erases the user: python3 step_up.py ada.jpg ada-today.jpg"""

import os
import sys

from countersign import Countersign, verify_verdict

secrets = os.environ["CS_SIGNING_SECRETS"].split(",")
countersign = Countersign(os.environ["CS_BASE_URL"], os.environ["CS_API_KEY"], secrets)
reference, today = (open(path, "rb").read() for path in sys.argv[1:])

status, answer = countersign.enroll("ada-python", reference)
print("enroll", status, answer.get("status") or answer)

action = {"type": "wire_transfer", "amount": "1250.00", "to": "Zoë"}
status, answer = countersign.verify("ada-python", today, action, nonce="session-1")
print("verify", status, answer.get("verdict") or answer)

claims = verify_verdict(
    answer["jwt"],
    secrets,
    audience=os.environ["CS_TENANT_ID"],
    environment="production",
    user_id="ada-python",
    action=action,
    nonce="session-1",
    seen=set(),
)
print("verdict", claims["verdict"], claims["action"]["amount"])

status, answer = countersign.delete("ada-python")
print("delete", status, answer.get("status") or answer)
