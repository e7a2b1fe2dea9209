"""Holds the keys of public verdicts in a PKCS#11 token, for COUNTERSIGN_VERDICT_SIGNER. Needs PyKCS11 (Debian: python3-pykcs11).

PKCS11_MODULE names the library of the token, PKCS11_TOKEN its label, and PKCS11_PIN_FILE a file with the user's PIN.
"""

import base64
import json
import os
import sys

import PyKCS11 as p11

# The object identifier of P-256, as CKA_EC_PARAMS has it.
P256 = bytes.fromhex("06082a8648ce3d030107")


def open_session():
    library = p11.PyKCS11Lib()
    library.load(os.environ["PKCS11_MODULE"])
    wanted = os.environ["PKCS11_TOKEN"]
    slot = next(one for one in library.getSlotList(True) if library.getTokenInfo(one).label.strip() == wanted)
    session = library.openSession(slot, p11.CKF_SERIAL_SESSION | p11.CKF_RW_SESSION)
    with open(os.environ["PKCS11_PIN_FILE"], encoding="ascii") as file:
        session.login(file.read().strip())
    return library, session


def base64url(data):
    return base64.urlsafe_b64encode(bytes(data)).rstrip(b"=").decode()


def make(session, label):
    public = [
        (p11.CKA_TOKEN, True),
        (p11.CKA_LABEL, label),
        (p11.CKA_ID, label.encode()),
        (p11.CKA_VERIFY, True),
        (p11.CKA_EC_PARAMS, P256),
    ]
    private = [
        (p11.CKA_TOKEN, True),
        (p11.CKA_PRIVATE, True),
        (p11.CKA_SENSITIVE, True),
        (p11.CKA_EXTRACTABLE, False),
        (p11.CKA_LABEL, label),
        (p11.CKA_ID, label.encode()),
        (p11.CKA_SIGN, True),
    ]
    mechanism = p11.Mechanism(p11.CKM_EC_KEY_PAIR_GEN, None)
    key, _ = session.generateKeyPair(public, private, mecha=mechanism)
    # An OCTET STRING of 65 bytes: 04, x and y.
    point = bytes(session.getAttributeValue(key, [p11.CKA_EC_POINT])[0])[-64:]
    return {"x": base64url(point[:32]), "y": base64url(point[32:])}


def objects(session, label, **kinds):
    wanted = [(p11.CKA_LABEL, label)]
    return session.findObjects(wanted + [(getattr(p11, name), value) for name, value in kinds.items()])


def sign(session, label, digest):
    keys = objects(session, label, CKA_CLASS=p11.CKO_PRIVATE_KEY)
    if not keys:
        raise LookupError(f"the token has no key {label}")
    data = base64.urlsafe_b64decode(digest + "=")
    return {"signature": base64url(session.sign(keys[0], data, p11.Mechanism(p11.CKM_ECDSA, None)))}


def forget(session, label):
    for found in objects(session, label):
        session.destroyObject(found)
    return {}


def main():
    library, session = open_session()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            work = {"make": make, "forget": forget, "sign": sign}[asked["do"]]
            rest = [asked["digest"]] if asked["do"] == "sign" else []
            answer = work(session, asked["label"], *rest)
        except (LookupError, p11.PyKCS11Error) as error:
            answer = {"error": str(error)}
        print(json.dumps({"id": asked["id"], **answer}), flush=True)
    session.closeSession()
    del library


main()
