#!/usr/bin/env bash
# Guess: a token whose iat is time.time() of this moment, a number with a fraction, as RFC 7519 allows, is valid at once
# for every library.
# What happens: joserfc cuts its own clock to whole seconds and compares the fraction with it, so it says that the token
# was issued in the future until the next second begins. PyJWT accepts the same token.
# Why it matters: a step-up token is used within the second in which it was made. The fault shows only on fast paths,
# goes away when it is tried again, and looks like a clock that is wrong.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet joserfc==1.7.5 pyjwt==2.15.1 2>/dev/null
cat >seen.py <<'EOF'
import time
from importlib.metadata import version

import jwt
from joserfc import jwt as jose
from joserfc.jwk import OctKey

secret = "0123456789abcdef0123456789abcdef"


def pyjwt(token):
    return "accepted" if jwt.decode(token, secret, ["HS256"]) else "empty"


def joserfc(token):
    try:
        jose.JWTClaimsRegistry().validate(jose.decode(token, OctKey.import_key(secret)).claims)
        return "accepted"
    except Exception as error:
        return str(error)


# The first half of a second leaves time for both checks within it.
while not 0.1 < time.time() % 1 < 0.5:
    time.sleep(0.01)
fresh = jwt.encode({"iat": time.time()}, secret, "HS256")
whole = jwt.encode({"iat": int(time.time())}, secret, "HS256")
seen = f"PyJWT {pyjwt(fresh)}, joserfc {joserfc(fresh)}; whole seconds: joserfc {joserfc(whole)}"
print("joserfc", version("joserfc"), "and PyJWT", version("pyjwt"))
print("Expected: PyJWT accepted, joserfc accepted")
print("Seen:", seen)
changed = "joserfc accepted;" in seen or "future" not in seen or not seen.endswith("joserfc accepted")
if changed:
    print("The behaviour has changed.")
raise SystemExit(1 if changed else 0)
EOF
venv/bin/python seen.py
