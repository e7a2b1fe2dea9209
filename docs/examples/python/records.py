"""Shows what is known of a user, and the audit log of production: python3 records.py ada"""

import os
import sys

from countersign import ApiError, Countersign, CountersignError


def main(user_id):
    countersign = Countersign(
        base_url=os.environ["CS_BASE_URL"],
        api_key=os.environ["CS_API_KEY"],
        signing_secret=os.environ["CS_SIGNING_SECRETS"],
    )
    try:
        user = countersign.get_user(user_id)
        print("user", user.user_id, user.status, user.lockout["status"], user.reference["views"])
    except ApiError as error:
        if error.code != "reference_not_found":
            raise
        print("user", user_id, "is not enrolled")
    # Pages are fetched as they are needed.
    for entry in countersign.audit_entries():
        print(entry.sequence, entry.created_at, entry.event, entry.code or entry.status or "")


if len(sys.argv) != 2:
    sys.exit("usage: python3 records.py <user id>")
try:
    main(sys.argv[1])
except KeyError as missing:
    sys.exit(f"Set {missing.args[0]}.")
except (CountersignError, ValueError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
