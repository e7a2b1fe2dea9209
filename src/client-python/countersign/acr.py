"""`acr` of an approval: what was checked of the capture besides whose face it shows."""

#: Every name that the service gives, from the strongest check to the weakest.
ACR_VALUES = (
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
ACTIVE_ACR = ACR_VALUES[:2]
