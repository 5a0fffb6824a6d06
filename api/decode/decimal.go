package decode

import (
	"math"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decimal reads a JSON number. One that is nearer to 0 than any float64 becomes the nearest, and not 0: a
// rate of 0 holds everything back, and one below its least is refused.
func decimal(raw jsontext.Value) (number float64, err error) {
	if err := json.Unmarshal(raw, &number); err != nil || number != 0 {
		return number, err
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(string(raw)), "e")
	if strings.ContainsAny(mantissa, "123456789") {
		number = math.Copysign(math.SmallestNonzeroFloat64, number)
	}
	return number, nil
}
