package countersign

// ACRValues are the names that the service gives to what was checked of a capture besides whose face it shows: first those in which a
// passkey signed, with a key in hardware (hwk) or in software (swk); within each group from the strongest check of liveness to the
// weakest.
var ACRValues = []string{
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
}

// ActiveACR is for an action with a high risk: the person turned and nodded the head as a challenge asked.
var ActiveACR = ACRValues[20:22:22]

// PasskeyACR is for two factors: the person turned and nodded the head, and a passkey of theirs signed for the action.
var PasskeyACR = append(append([]string{}, ACRValues[0:2]...), ACRValues[10:12]...)
