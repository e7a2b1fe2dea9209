"""Enrolls a face, has an action countersigned, checks the verdict, erases the user: python3 step_up_asyncio.py ada.jpg … ada-today.jpg"""

import asyncio
import os
import sys
from pathlib import Path

from countersign import AsyncCountersign, CountersignError

USER = "ada-asyncio"
ACTION = {"type": "wire_transfer", "amount": "1250.00", "to": "Zoë"}


async def step_up(countersign, today):
    result = await countersign.verify(USER, image=today, action=ACTION)
    print("verify", result.verdict)
    claims = await countersign.verify_verdict(result, user_id=USER, action=ACTION)
    print("verdict", claims.verdict, claims.action["amount"])


async def main(photos, today):
    async with AsyncCountersign(
        base_url=os.environ["CS_BASE_URL"],
        api_key=os.environ["CS_API_KEY"],
        signing_secret=os.environ["CS_SIGNING_SECRETS"],
        tenant_id=os.environ["CS_TENANT_ID"],
        # The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
        accept_evaluation_grade=os.environ.get("CS_ACCEPT_EVALUATION") == "true",
    ) as countersign:
        print("enroll", (await countersign.enroll(USER, images=photos, replace=True)).status)
        try:
            await step_up(countersign, today)
        finally:
            print("delete", (await countersign.delete(USER)).status)


if len(sys.argv) < 3:
    sys.exit("usage: python3 step_up_asyncio.py <photos to enroll>… <photo of today>")
try:
    *enrolled, last = map(Path, sys.argv[1:])
    asyncio.run(main(enrolled, last))
except KeyError as missing:
    sys.exit(f"Set {missing.args[0]}.")
except (CountersignError, OSError, ValueError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
