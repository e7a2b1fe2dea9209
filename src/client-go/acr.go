package countersign

// ACRValues are the names that the service gives to what was checked of a capture besides whose face it shows, from the strongest
// check to the weakest.
var ACRValues = []string{
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
var ActiveACR = ACRValues[:2:2]
