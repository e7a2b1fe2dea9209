"""Enrols a face, has an action countersigned, checks the verdict, erases the user: python3 step_up.py ada.jpg … ada-today.jpg"""

import os
import sys

from countersign import ApiError, Countersign, Refused, parse_secrets, verify_verdict

USER = "ada-python"
secrets = parse_secrets(os.environ["CS_SIGNING_SECRETS"])
countersign = Countersign(os.environ["CS_BASE_URL"], os.environ["CS_API_KEY"], secrets)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def step_up(today):
    action = {"type": "wire_transfer", "amount": "1250.00", "to": "Zoë"}
    answer = countersign.verify(USER, today, action, nonce="session-1")
    print("verify", answer["verdict"])
    claims = verify_verdict(
        answer["jwt"],
        secrets.values(),
        audience=os.environ["CS_TENANT_ID"],
        environment="production",
        user_id=USER,
        action=action,
        nonce="session-1",
        # The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
        accept_evaluation_grade=os.environ.get("CS_ACCEPT_EVALUATION") == "true",
        seen=set(),
    )
    print("verdict", claims["verdict"], claims["action"]["amount"])


try:
    *photos, today = (read(path) for path in sys.argv[1:])
    print("enroll", countersign.enroll(USER, photos, replace=True)["status"])
    try:
        step_up(today)
    finally:
        print("delete", countersign.delete(USER)["status"])
except (ApiError, Refused, OSError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
