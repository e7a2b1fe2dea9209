"""Has a challenge answered in the sandbox, which takes any photo for a frame: python3 challenge.py photo.jpg"""

import os
import sys
from pathlib import Path

from countersign import ACTIVE_ACR, Countersign, CountersignError

USER = "ada-python+match"
ACTION = {"type": "wire_transfer", "amount": "1250.00"}


def main(photo):
    countersign = Countersign(
        base_url=os.environ["CS_BASE_URL"],
        api_key=os.environ["CS_API_KEY"],
        signing_secret=os.environ["CS_SIGNING_SECRETS"],
        tenant_id=os.environ["CS_TENANT_ID"],
    )
    asked = countersign.create_challenge(USER, action=ACTION)
    print("challenge", " ".join(asked.steps))
    # In a browser, <countersign-capture> shows the steps and takes these frames from the camera.
    count = asked.capture["min_frames"] + 4
    frames = [
        {"step": index * len(asked.steps) // count, "t_ms": index * 200, "image": photo}
        for index in range(count)
    ]
    answer = {"challenge_id": asked.challenge_id, "nonce": asked.nonce, "frames": frames}
    result = countersign.verify(USER, challenge=answer, action=ACTION)
    print("verify", result.verdict)
    # Where money moves, accept only an approval of a person who moved the head as asked.
    claims = countersign.verify_verdict(result, user_id=USER, action=ACTION, acr=ACTIVE_ACR)
    print("verdict", claims.verdict, claims.acr)


if len(sys.argv) != 2:
    sys.exit("usage: python3 challenge.py <photo>")
try:
    main(Path(sys.argv[1]))
except KeyError as missing:
    sys.exit(f"Set {missing.args[0]}.")
except (CountersignError, OSError, ValueError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
