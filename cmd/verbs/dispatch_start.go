package verbs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// dispatchFlags holds the flags of a new dispatch.
type dispatchFlags struct {
	rate                float64
	at, delay, latest   string
	url, set            string
	items, from, loader string
	page                int
}

func (f *dispatchFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.Float64Var(&f.rate, "rate", 0, "how many items a second")
	flags.StringVar(&f.at, "at", "", "when to begin, such as 2027-01-31T09:00:00Z; by default at once")
	flags.StringVar(&f.delay, "delay", "", "how long from now to begin, such as 8h")
	flags.StringVar(&f.latest, "latest-at", "", "when it ends, with or without items left")
	flags.StringVar(&f.url, "url", "", "the URL to call, in place of the policy's callback")
	flags.IntVar(&f.page, "page", 0, "how many items one callback carries; 0 for one callback an item")
	flags.StringVar(&f.items, "items", "", "a file of up to 1000 items, one JSON object a line; - for standard input")
	flags.StringVar(&f.from, "upload", "", "a file of any number of items, one JSON object a line; - for standard input")
	flags.StringVar(&f.loader, "loader", "", "the URL of your loader, which answers pages of items")
	flags.StringVar(&f.set, "set", "", `more fields of the API, such as '{"warm_up": "10s"}', as `+documentForms)
	c.MarkFlagsMutuallyExclusive("at", "delay")
	c.MarkFlagsMutuallyExclusive("items", "upload", "loader")
	c.MarkFlagsOneRequired("items", "upload", "loader", "set")
}

// order returns the order of the flags. Single flags override --set.
func (f *dispatchFlags) order(s *shell, key wire.Key) (order client.Order, err error) {
	if f.set != "" {
		if err = s.fill("--set", f.set, &order); err != nil {
			return order, err
		}
	}
	order.Key = key
	if err = f.times(&order); err != nil {
		return order, err
	}
	if f.rate > 0 {
		order.PerSecond = f.rate
	}
	if f.url != "" {
		order.Callback = &delivery.Callback{Destination: delivery.HTTP(f.url)}
	}
	if f.page > 0 {
		order.Per, order.PageSize = dispatch.PerPage, f.page
	}
	if f.loader != "" {
		order.Loader = &dispatch.Loader{URL: f.loader}
	}
	if f.items != "" {
		order.Items, err = allLines[dispatch.Item](s, f.items)
	}
	order.Upload = order.Upload || f.from != ""
	return order, err
}

func (f *dispatchFlags) times(order *client.Order) error {
	for flag, one := range map[string]struct {
		text string
		into **wire.Instant
	}{"at": {f.at, &order.DueAt}, "latest-at": {f.latest, &order.LatestAt}} {
		at, err := instantOf(flag, one.text)
		if err != nil {
			return err
		}
		if at != 0 {
			*one.into = &at
		}
	}
	if f.delay == "" {
		return nil
	}
	order.Delay = new(wire.Duration)
	if err := order.Delay.UnmarshalText([]byte(f.delay)); err != nil {
		return program.Wrong(fmt.Errorf("--delay: %w", err))
	}
	return nil
}

func (v dispatchVerbs) start() *cobra.Command {
	f := &dispatchFlags{}
	c := v.onDispatch(&cobra.Command{Use: "start", Short: "Start a dispatch"},
		func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (view dispatch.View, err error) {
			order, err := f.order(v.shell, key)
			if err != nil {
				return view, err
			}
			view, _, err = dispatches.Start(c.Context(), order)
			v.noteRate(view)
			if err != nil || f.from == "" {
				return view, err
			}
			return v.sendItems(c, dispatches, key, uploadFrom{file: f.from})
		})
	c.Example += " --rate 50 --items items.ndjson"
	f.flags(c)
	return c
}

// uploadFrom locates the items of an upload.
type uploadFrom struct {
	file string
	// stored is the number of stored items to keep.
	stored int
}

func (v dispatchVerbs) upload() *cobra.Command {
	var from uploadFrom
	c := v.onDispatch(&cobra.Command{Use: "upload", Short: "Upload the items of a dispatch"},
		func(c *cobra.Command, dispatches client.Dispatches, key wire.Key) (dispatch.View, error) {
			return v.sendItems(c, dispatches, key, from)
		})
	run := c.RunE
	c.Use, c.Args, c.Example = "upload "+timerArgument+" FILE", cobra.ExactArgs(2), c.Example+" items.ndjson"
	c.Long = c.Short + ": a file of one JSON object a line, or - for standard input."
	c.RunE = func(c *cobra.Command, args []string) error {
		from.file = args[1]
		return run(c, args[:1])
	}
	c.Flags().IntVar(&from.stored, "from", 0, "how many stored items to keep; the file holds the items after them")
	return c
}

func (v dispatchVerbs) sendItems(
	c *cobra.Command, dispatches client.Dispatches, key wire.Key, from uploadFrom,
) (view dispatch.View, err error) {
	file, err := v.open(from.file)
	if err != nil {
		return view, err
	}
	defer func() { _ = file.Close() }()
	return dispatches.Upload(c.Context(), key, from.stored, lines[dispatch.Item](from.file, file))
}
