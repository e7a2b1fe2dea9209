"""Checks a public verdict with the SDK and the issuer's address: python verify.py <issuer> <tenant> <user> <token>"""

import os
import sys

from countersign import verify_verdict

issuer, audience, user_id, token = sys.argv[1:]
claims = verify_verdict(
    token,
    issuer=issuer,
    audience=audience,
    user_id=user_id,
    action={"type": "wire_transfer", "amount": "1250.00", "currency": "EUR"},
    environment=os.environ.get("CS_ENVIRONMENT", "production"),
)
print(f"{claims.sub} may do it: {claims.jti}")
