"""Enrolls a face, has an action countersigned, checks the verdict, erases the user: python3 step_up.py ada.jpg … ada-today.jpg"""

import os
import sys
from pathlib import Path

from countersign import Countersign, CountersignError

USER = "ada-python"
ACTION = {"type": "wire_transfer", "amount": "1250.00", "to": "Zoë"}


def main(photos, today):
    countersign = Countersign(
        base_url=os.environ["CS_BASE_URL"],
        api_key=os.environ["CS_API_KEY"],
        signing_secret=os.environ["CS_SIGNING_SECRETS"],
        tenant_id=os.environ["CS_TENANT_ID"],
        # The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
        accept_evaluation_grade=os.environ.get("CS_ACCEPT_EVALUATION") == "true",
    )
    print("enroll", countersign.enroll(USER, images=photos, replace=True).status)
    try:
        result = countersign.verify(USER, image=today, action=ACTION, nonce="session-1")
        print("verify", result.verdict)
        # Where the action runs: the user and the action come from your own session, never from the token.
        claims = countersign.verify_verdict(result, user_id=USER, action=ACTION, nonce="session-1")
        print("verdict", claims.verdict, claims.action["amount"])
    finally:
        print("delete", countersign.delete(USER).status)


if len(sys.argv) < 3:
    sys.exit("usage: python3 step_up.py <photos to enroll>… <photo of today>")
try:
    *enrolled, last = map(Path, sys.argv[1:])
    main(enrolled, last)
except KeyError as missing:
    sys.exit(f"Set {missing.args[0]}.")
except (CountersignError, OSError, ValueError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
