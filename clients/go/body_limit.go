package countersign

import (
	"fmt"
	"math"
	"net/http"
)

const mib = 1 << 20

// DefaultMaxBodyBytes is the service's limit where its operator has not set COUNTERSIGN_MAX_BODY_BYTES.
const DefaultMaxBodyBytes = 8 * mib

const guidancePath = "/guidance"

// guidanceBodyBytes: frames of guidance are small, and the service takes no larger body there.
const guidanceBodyBytes = 512 << 10

type pathAndSize struct {
	path string
	size int
}

// withPhotos is a request that brings photos.
type withPhotos interface{ photos() []pathAndSize }

// assertBodyFits fails as the service would, with the largest photo in the details: a photo that is too large costs an upload that
// is refused.
func assertBodyFits(body any, size, limit int) error {
	if size <= limit {
		return nil
	}
	refusal := &APIError{
		Code: "body_too_large", Category: "invalid_request", Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("The body has %s, and the service takes %s.", inMiB(size), inMiB(limit)),
	}
	what := "a smaller photo"
	if brings, ok := body.(withPhotos); ok {
		photos := brings.photos()
		if len(photos) > 1 {
			what = "smaller photos"
		}
		var largest pathAndSize
		for _, photo := range photos {
			if photo.size > largest.size {
				largest = photo
			}
		}
		if largest.path != "" {
			refusal.Details = []ErrorDetail{{
				Path: largest.path, Issue: fmt.Sprintf("has %s, and base64 adds a third", inMiB(largest.size)),
				Guidance: "image_too_large", Hint: "The photo is too large. Please choose a smaller one.",
			}}
		}
	}
	refusal.Remedy = fmt.Sprintf("Send %s: 1280 pixels on the longer side are plenty. Where the service takes more, set MaxBodyBytes.", what)
	return refusal
}

func (p Photos) photos() []pathAndSize {
	var found []pathAndSize
	if p.Image != nil {
		found = append(found, pathAndSize{"image", len(p.Image)})
	}
	for i, image := range p.Images {
		found = append(found, pathAndSize{fmt.Sprintf("images.%d", i), len(image)})
	}
	if p.Challenge != nil {
		for i, frame := range p.Challenge.Frames {
			found = append(found, pathAndSize{fmt.Sprintf("challenge.frames.%d.image", i), len(frame.Image)})
		}
	}
	return found
}

func (r GuidanceRequest) photos() []pathAndSize {
	return []pathAndSize{{"image", len(r.Image)}, {"frontal", len(r.Frontal)}}
}

// inMiB writes one decimal, and none for whole numbers.
func inMiB(size int) string {
	if size < mib {
		return fmt.Sprintf("%.0f KiB", math.Ceil(float64(size)/1024))
	}
	return fmt.Sprintf("%g MiB", math.Ceil(float64(size)/mib*10)/10)
}
