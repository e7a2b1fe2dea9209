package countersign

import (
	"errors"
	"fmt"
	"net/http"
)

// Photos is one photo, or 1 to 5 of the same person, or the frames of a challenge: exactly one of the three. Photos are JPEG, PNG
// or WebP files.
type Photos struct {
	Image     []byte           `json:"image,omitempty"`
	Images    [][]byte         `json:"images,omitempty"`
	Challenge *ChallengeAnswer `json:"challenge,omitempty"`
}

// AuditListRequest narrows the audit log.
type AuditListRequest struct {
	// After is a NextCursor; default: the start of the log, or its end with the order desc.
	After string
	// Limit is at most how many entries a page has; 1 to 200, default 50.
	Limit int
	// Event asks for entries of this event only.
	Event string
	// Order is asc, oldest first, by default, or desc, newest first.
	Order string
}

// unreadable is as the service would answer: what a browser sent instead of a photo is the person's to mend.
func unreadable(path, issue string) error {
	return &APIError{
		Code: "image_unreadable", Category: "biometric_rejected", Status: http.StatusUnprocessableEntity,
		Message: "The image could not be read.", Remedy: "Ask for a new photo, and pass its bytes.",
		Details: []ErrorDetail{{
			Path: path, Issue: issue, Guidance: "file_unreadable",
			Hint: "This file cannot be read as a photo. Please choose another one.",
		}},
	}
}

// check fails with an APIError image_unreadable for a photo that is missing or empty, and with a plain error where more than one form of
// photos is given.
func (p Photos) check() error {
	given := 0
	for _, is := range []bool{p.Image != nil, p.Images != nil, p.Challenge != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return errors.New("countersign: give one of Image, Images and Challenge")
	case p.Images != nil:
		if len(p.Images) == 0 {
			return unreadable("images", "is empty")
		}
		for i, image := range p.Images {
			if len(image) == 0 {
				return unreadable(fmt.Sprintf("images.%d", i), "is empty")
			}
		}
	case p.Challenge != nil:
		for i, frame := range p.Challenge.Frames {
			if len(frame.Image) == 0 {
				return unreadable(fmt.Sprintf("challenge.frames.%d.image", i), "is empty")
			}
		}
	case len(p.Image) == 0:
		return unreadable("image", "is empty")
	}
	return nil
}
