"""`acr` of an approval: what was checked of the capture besides whose face it shows."""

#: Every name that the service gives: first those in which a passkey signed, with a key in hardware (hwk) or in software (swk); within
#: each group from the strongest check of liveness to the weakest.
ACR_VALUES = (
    "urn:countersign:acr:face-active-pad-hwk",
    "urn:countersign:acr:face-active-hwk",
    "urn:countersign:acr:face-active-turn-pad-hwk",
    "urn:countersign:acr:face-active-turn-hwk",
    "urn:countersign:acr:face-active-nod-pad-hwk",
    "urn:countersign:acr:face-active-nod-hwk",
    "urn:countersign:acr:face-no-motion-pad-hwk",
    "urn:countersign:acr:face-pad-hwk",
    "urn:countersign:acr:face-no-motion-hwk",
    "urn:countersign:acr:face-hwk",
    "urn:countersign:acr:face-active-pad-swk",
    "urn:countersign:acr:face-active-swk",
    "urn:countersign:acr:face-active-turn-pad-swk",
    "urn:countersign:acr:face-active-turn-swk",
    "urn:countersign:acr:face-active-nod-pad-swk",
    "urn:countersign:acr:face-active-nod-swk",
    "urn:countersign:acr:face-no-motion-pad-swk",
    "urn:countersign:acr:face-pad-swk",
    "urn:countersign:acr:face-no-motion-swk",
    "urn:countersign:acr:face-swk",
    "urn:countersign:acr:face-active-pad",
    "urn:countersign:acr:face-active",
    "urn:countersign:acr:face-active-turn-pad",
    "urn:countersign:acr:face-active-turn",
    "urn:countersign:acr:face-active-nod-pad",
    "urn:countersign:acr:face-active-nod",
    "urn:countersign:acr:face-no-motion-pad",
    "urn:countersign:acr:face-pad",
    "urn:countersign:acr:face-no-motion",
    "urn:countersign:acr:face",
)

#: For an action with a high risk: the person turned and nodded the head as a challenge asked.
ACTIVE_ACR = ACR_VALUES[20:22]

#: For two factors: the person turned and nodded the head, and a passkey of theirs signed for the action.
PASSKEY_ACR = ACR_VALUES[0:2] + ACR_VALUES[10:12]
