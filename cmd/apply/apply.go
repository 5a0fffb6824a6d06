package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
)

// Options select the file and the form of the output.
type Options struct {
	File string
	// DryRun shows the differences and changes nothing.
	DryRun bool
	// JSON prints the API's form of the differences.
	JSON bool
}

// Run applies a file to a Wakecall, and prints the differences. If a policy is refused, the
// error names every fault of all policies, and nothing is applied.
func Run(ctx context.Context, wakecall *client.Client, options Options, out io.Writer) error {
	policies, err := load(options.File)
	if err != nil {
		return program.Wrong(err)
	}
	return apply(ctx, wakecall, work{Options: options, policies: policies, out: out})
}

// work is the input of apply, and its output.
type work struct {
	Options
	policies []policy
	out      io.Writer
}

// print prints text for the user. A failed write stops no work.
func (w work) print(format string, args ...any) {
	if !w.JSON {
		_, _ = fmt.Fprintf(w.out, format, args...)
	}
}

func (w work) printPlans(plans []client.Planned) {
	if w.JSON {
		encoder := json.NewEncoder(w.out)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(plans)
		return
	}
	for i, p := range w.policies {
		w.print("%s", show(p, plans[i]))
	}
}

func apply(ctx context.Context, wakecall *client.Client, w work) error {
	plans, err := planAll(ctx, wakecall, w.policies)
	if err != nil {
		return err
	}
	w.printPlans(plans)
	if w.DryRun {
		w.print("dry run: nothing was applied\n")
		return nil
	}
	applied := 0
	for i, p := range w.policies {
		if !plans[i].Created && len(plans[i].Changes) == 0 {
			continue
		}
		if err := store(ctx, wakecall, p, plans[i]); err != nil {
			return unfinished(err, applied, len(w.policies))
		}
		applied++
	}
	w.print("%d of %d policies applied\n", applied, len(w.policies))
	return nil
}

// unfinished adds to an error how much of a file was applied.
func unfinished(err error, applied, all int) error {
	err = fmt.Errorf("%w\n%d of %d policies applied; apply the file again", err, applied, all)
	if applied > 0 {
		err = program.Partial(err)
	}
	return err
}

// planAll makes a dry run of every policy. It goes on after a refusal, and stops if Wakecall
// cannot be reached.
func planAll(ctx context.Context, wakecall *client.Client, policies []policy) ([]client.Planned, error) {
	plans := make([]client.Planned, len(policies))
	var faults []error
	for i, p := range policies {
		var err error
		plans[i], err = dryRun(ctx, wakecall, p)
		if r, ok := errors.AsType[refusal](err); ok && r.ofValues() {
			faults = append(faults, err)
		} else if err != nil {
			return nil, err
		}
	}
	if len(faults) > 0 {
		faults = append(faults, errors.New("nothing was applied"))
	}
	return plans, errors.Join(faults...)
}

// show describes how a policy differs.
func show(p policy, planned client.Planned) string {
	word := "unchanged"
	if planned.Created {
		word = "new"
	} else if len(planned.Changes) > 0 {
		word = "changed"
	}
	text := p.businessType + ": " + word + "\n"
	for _, c := range planned.Changes {
		text += fmt.Sprintf("  %s: %s → %s\n", c.Pointer, brief(c.From), brief(c.To))
	}
	return text
}

// brief formats a value in one line.
func brief(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case string:
		return v
	}
	text, _ := json.Marshal(value) // it was decoded from JSON
	return string(text)
}
