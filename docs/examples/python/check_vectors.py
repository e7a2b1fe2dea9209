"""Judges the test vectors: python3 check_vectors.py ../vectors.json"""

import json
import sys

from countersign import Refused, action_hash, assert_signature, canonical, verify_verdict


def holds(check, *args, **kwargs):
    try:
        check(*args, **kwargs)
    except Refused:
        return False
    return True


with open(sys.argv[1], encoding="utf-8") as file:
    vectors = json.load(file)
wrong, count = [], 0


def expect(what, vector, actual, expected):
    global count
    count += 1
    if actual != expected:
        wrong.append(f"{what}, {vector['title']}: {actual} instead of {expected}")


for vector in vectors["responses"]:
    judged = holds(
        assert_signature,
        vector["signature"],
        [secret["secret"] for secret in vector["secrets"]],
        environment=vector["environment"],
        method=vector["method"],
        target=vector["target"],
        status=vector["status"],
        request_id=vector["request_id"],
        body=vector["body"].encode(),
        now=vector["now"],
        tolerance=vector["tolerance_seconds"],
    )
    expect("response", vector, judged, vector["valid"])

for vector in vectors["actions"]:
    action = json.loads(vector["json"])
    expect("canonical form", vector, canonical(action), vector["canonical"])
    expect("action hash", vector, action_hash(action), vector["action_hash"])

for vector in vectors["refused_actions"]:
    try:
        refused = canonical(json.loads(vector["json"])) is None
    except ValueError:
        refused = True
    expect("refused action", vector, refused, True)

for vector in vectors["verdicts"]:
    judged = holds(
        verify_verdict,
        vector["jwt"],
        [secret["secret"] for secret in vector["secrets"]],
        **vector["expected"],
        seen=set(),
        now=vector["now"],
    )
    expect("verdict", vector, judged, vector["valid"])

for line in wrong:
    print(line)
print(f"{count - len(wrong)} of {count} vectors hold")
sys.exit(1 if wrong else 0)
