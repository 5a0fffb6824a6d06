package contract

import (
	"errors"
	"fmt"
)

// CheckExamples returns the examples that violate their schemas. Other readers check the
// examples of bodies and parameters only.
func (d *Document) CheckExamples() error {
	schemas, _ := d.at("#/components/schemas")
	return d.checkExamples(schemas)
}

func (d *Document) checkExamples(p place) error {
	var errs []error
	examples, _ := p.object["examples"].([]any)
	for _, example := range examples {
		if err := d.hold(p, example); err != nil {
			errs = append(errs, fmt.Errorf("an example of %s: %w", p.pointer, err))
		}
	}
	for name, value := range p.object {
		if inner, ok := value.(object); ok {
			errs = append(errs, d.checkExamples(place{inner, p.pointer + "/" + escape(name)}))
		}
	}
	return errors.Join(errs...)
}
