package countersign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Action is what is to be countersigned: a string, or anything that encoding/json writes as an object, at most 4096 bytes in
// canonical form.
type Action any

// ActionHash is the SHA-256 of the canonical form in lower-case hex: the action_hash of a verdict.
func ActionHash(action Action) (string, error) {
	text, err := CanonicalJSON(action)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]), nil
}

// CanonicalJSON is the RFC 8785 form of what encoding/json makes of the value. It fails for what JSON does not hold exactly,
// such as integers beyond 2^53 - 1, which not every reader takes for the same number.
func CanonicalJSON(value any) (string, error) {
	if err := assertText(value); err != nil {
		return "", err
	}
	written, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("the action is not JSON: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(written))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return "", err
	}
	var out strings.Builder
	if err := writeCanonical(&out, plain, "action"); err != nil {
		return "", err
	}
	return out.String(), nil
}

// assertAction fails unless the action is a string or an object.
func assertAction(action Action) error {
	text, err := CanonicalJSON(action)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, "{") {
		return errors.New("countersign: Action must be a string or an object: what the verdict is for")
	}
	return nil
}

// assertText refuses strings that are not UTF-8, which encoding/json would change without a word.
func assertText(value any) error {
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) {
			return errors.New("countersign: the action holds a text that is not UTF-8")
		}
	case []any:
		for _, item := range v {
			if err := assertText(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, item := range v {
			if err := assertText(name); err != nil {
				return err
			}
			if err := assertText(item); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeCanonical(out *strings.Builder, value any, path string) error {
	switch v := value.(type) {
	case nil:
		out.WriteString("null")
	case bool:
		out.WriteString(strconv.FormatBool(v))
	case string:
		writeString(out, v)
	case json.Number:
		text, err := canonicalNumber(v)
		if err != nil {
			return fmt.Errorf("countersign: %s %w", path, err)
		}
		out.WriteString(text)
	case []any:
		out.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeCanonical(out, item, fmt.Sprintf("%s.%d", path, i)); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case map[string]any:
		return writeObject(out, v, path)
	}
	return nil
}

func writeObject(out *strings.Builder, members map[string]any, path string) error {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return lessUTF16(names[i], names[j]) })
	out.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			out.WriteByte(',')
		}
		writeString(out, name)
		out.WriteByte(':')
		if err := writeCanonical(out, members[name], path+"."+name); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// lessUTF16 compares UTF-16 code units, as RFC 8785, section 3.2.3, sorts; Go itself would compare bytes of UTF-8.
func lessUTF16(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

var shortEscapes = map[rune]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`, '"': `\"`, '\\': `\\`}

// writeString escapes less than encoding/json does, as RFC 8785 asks.
func writeString(out *strings.Builder, text string) {
	out.WriteByte('"')
	for _, r := range text {
		if short, ok := shortEscapes[r]; ok {
			out.WriteString(short)
		} else if r < 0x20 {
			fmt.Fprintf(out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

// canonicalNumber is ECMAScript's form: plain digits from 1e-6 to below 1e21, an exponent beyond.
func canonicalNumber(text json.Number) (string, error) {
	number, err := text.Float64()
	if err != nil || math.IsInf(number, 0) {
		return "", errors.New("is a number that JSON readers do not hold: send it as a string")
	}
	if number == math.Trunc(number) && math.Abs(number) > 1<<53-1 {
		return "", errors.New("is an integer beyond 2^53 - 1: send it as a string")
	}
	if number == 0 {
		return "0", nil
	}
	if size := math.Abs(number); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(number, 'f', -1, 64), nil
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(number, 'e', -1, 64), "e")
	// Go writes two digits at least, as in e-07.
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0"), nil
}
