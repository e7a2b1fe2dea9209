"""Checks a public verdict with PyJWT and the issuer's address: python check.py <issuer> <tenant> <token>"""

import sys

import jwt

issuer, audience, token = sys.argv[1:]
if jwt.get_unverified_header(token).get("typ") != "stepup+jwt":
    sys.exit("This is another kind of token than a verdict.")
key = jwt.PyJWKClient(f"{issuer}/.well-known/jwks.json").get_signing_key_from_jwt(token)
claims = jwt.decode(
    token,
    key.key,
    algorithms=["ES256"],
    issuer=issuer,
    audience=audience,
    leeway=60,
    options={"require": ["exp", "sub", "jti", "action_hash"]},
)
print(f"{claims['verdict']} for {claims['sub']}: action {claims['action_hash']}")
