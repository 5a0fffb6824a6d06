package decode

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// integer reads a JSON number that is a whole one, however it is written: 3, 3.0, 30e-1 and
// 0.3E1 are the same number (RFC 8259, section 6). It reports whether raw is one that an
// int holds. Its work is linear in the text: an exponent costs nothing.
func integer(raw jsontext.Value) (number int, ok bool) {
	if raw.Kind() != '0' || !raw.IsValid() {
		return 0, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(raw)), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return 0, true
	}
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil {
			return 0, false // further than any digits reach
		}
	}
	significant := strings.TrimRight(digits, "0")
	zeros := len(digits) - len(significant) - len(fraction) + power
	if zeros < 0 || zeros > len(strconv.Itoa(math.MaxInt)) {
		return 0, false
	}
	text := significant + strings.Repeat("0", zeros)
	if negative {
		text = "-" + text
	}
	number, err := strconv.Atoi(text)
	return number, err == nil
}
