package countersign

import (
	"fmt"
	"math"
	"time"
)

// DefaultClockTolerance is by how much a verdict may come too early or too late. Servers without a time service drift by seconds
// a week, and a verdict is checked in the second in which it was made: a clock that is a little behind would refuse all of them.
const DefaultClockTolerance = 60 * time.Second

// MaxClockTolerance is as long as a verdict lives by default: more would hide a broken clock rather than tolerate a drift.
const MaxClockTolerance = 300 * time.Second

func notYetValidText(from, now time.Time, tolerance time.Duration) string {
	return fmt.Sprintf("The verdict is valid from %s, which is %s ahead of this machine's clock; %s of difference are allowed. "+
		"Is this machine's clock right?", isoTime(from), inSeconds(from.Sub(now)), inSeconds(tolerance))
}

func expiredText(until, now time.Time, tolerance time.Duration) string {
	return fmt.Sprintf("The verdict expired at %s, which is %s ago by this machine's clock; %s of difference are allowed. "+
		"Have the action countersigned again; if this verdict is a new one: is this machine's clock right?",
		isoTime(until), inSeconds(now.Sub(until)), inSeconds(tolerance))
}

func signedText(at, now time.Time, tolerance time.Duration) string {
	distance := inSeconds(now.Sub(at)) + " ago"
	if now.Before(at) {
		distance = inSeconds(at.Sub(now)) + " ahead of this machine's clock"
	}
	return fmt.Sprintf("It was signed %s; %s are allowed. Is the clock right?", distance, inSeconds(tolerance))
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.0f s", math.Round(d.Seconds())) }

func isoTime(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

// fromUnix takes the NumericDate of RFC 7519, which may have a fraction.
func fromUnix(seconds float64) time.Time {
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9))
}
