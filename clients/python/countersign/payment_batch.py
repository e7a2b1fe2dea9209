"""Makes the action of a batch of payments from its list."""

from __future__ import annotations

import hashlib
import re
from decimal import Context, Decimal
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from .canonical_json import canonical_json

_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,4})?", re.ASCII)
#: More digits than the sum of 1,000 amounts has, so that no sum is rounded.
_EXACT = Context(prec=40)


def payment_batch(
    currency: str, payees: Sequence[Mapping[str, str]], reference: Optional[str] = None
) -> Tuple[Dict[str, Any], str]:
    """The action of type `payment_batch`, and its list as text for `payees` of `create_capture_session`.

    Each of the 1 to 1,000 payees has `name`, `account`, `amount` (decimal text, such as `"12.50"`) and maybe `reference`. To check a
    verdict, make the batch again from the payments that are about to run, and expect its action. Raises ValueError for an amount
    that is no decimal text; everything else is for the service to check.
    """
    total = Decimal(0)
    for index, payee in enumerate(payees):
        if not isinstance(payee["amount"], str) or not _AMOUNT.fullmatch(payee["amount"]):
            raise ValueError(f'payees.{index}.amount must be a decimal number as text, such as "12.50"')
        total = _EXACT.add(total, Decimal(payee["amount"]))
    text = canonical_json([dict(payee) for payee in payees])
    action: Dict[str, Any] = {
        "type": "payment_batch",
        "total": format(total, "f"),
        "currency": currency,
        "payees_count": len(payees),
        "payees_hash": hashlib.sha256(text.encode("utf-8")).hexdigest(),
    }
    if reference is not None:
        action["reference"] = reference
    return action, text
