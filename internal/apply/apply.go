package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/internal/config"
)

// Options say what is to be applied.
type Options struct {
	File string
	// DryRun shows the differences and changes nothing.
	DryRun bool
}

// Parse reads the arguments FILE and --dry-run, in any order.
func Parse(args []string) (options Options, ok bool) {
	for _, arg := range args {
		switch {
		case arg == "--dry-run":
			options.DryRun = true
		case strings.HasPrefix(arg, "-") || options.File != "":
			return options, false
		default:
			options.File = arg
		}
	}
	return options, options.File != ""
}

// Run applies a file to the Wakecall that the environment names, and prints the
// differences. When one policy is refused its error names everything that is
// wrong with any of them, and nothing is applied.
func Run(ctx context.Context, options Options, out io.Writer) error {
	var settings Settings
	if err := config.ReadClient(&settings); err != nil {
		return err
	}
	policies, err := load(options.File)
	if err != nil {
		return err
	}
	return apply(ctx, settings.Client(), work{policies: policies, dryRun: options.DryRun, out: out})
}

// work is what apply does, and where it prints.
type work struct {
	policies []policy
	dryRun   bool
	out      io.Writer
}

// print tells the user something. Where nobody listens the work goes on.
func (w work) print(format string, args ...any) { _, _ = fmt.Fprintf(w.out, format, args...) }

func apply(ctx context.Context, wakecall *client.Client, w work) error {
	plans, err := planAll(ctx, wakecall, w.policies)
	if err != nil {
		return err
	}
	for i, p := range w.policies {
		w.print("%s", show(p, plans[i]))
	}
	if w.dryRun {
		w.print("dry run: nothing was applied\n")
		return nil
	}
	applied := 0
	for i, p := range w.policies {
		if !plans[i].Created && len(plans[i].Changes) == 0 {
			continue
		}
		if err := store(ctx, wakecall, p, plans[i]); err != nil {
			return fmt.Errorf("%w\n%d of %d policies applied; apply the file again", err, applied, len(w.policies))
		}
		applied++
	}
	w.print("%d of %d policies applied\n", applied, len(w.policies))
	return nil
}

// planAll makes a dry run of every policy. What is refused keeps nothing from
// being asked; that nobody can be asked does.
func planAll(ctx context.Context, wakecall *client.Client, policies []policy) ([]client.Planned, error) {
	plans := make([]client.Planned, len(policies))
	var refused []error
	for i, p := range policies {
		var err error
		plans[i], err = dryRun(ctx, wakecall, p)
		if _, ok := errors.AsType[refusal](err); ok {
			refused = append(refused, err)
		} else if err != nil {
			return nil, err
		}
	}
	if len(refused) > 0 {
		refused = append(refused, errors.New("nothing was applied"))
	}
	return plans, errors.Join(refused...)
}

// show says how a policy differs.
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

// brief writes a value in one line.
func brief(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case string:
		return v
	}
	text, _ := json.Marshal(value) // it was read from JSON
	return string(text)
}
