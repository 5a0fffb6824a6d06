package verbs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/wire"
)

// batchSize is how many timers one call books.
const batchSize = 1000

func (v bookingVerbs) batch() *cobra.Command {
	var refused, all int
	book := func(c *cobra.Command, wakecall *client.Client, args []string) (lines []addedLine, err error) {
		bookings, err := allLines[client.Booking](v.shell, args[0])
		if err != nil {
			return nil, err
		}
		lines, err = addAll(c, wakecall, bookings)
		refused, all = countRefused(lines), len(bookings)
		return lines, err
	}
	return &cobra.Command{
		Use: "batch FILE", Short: "Book the timers of a file, one JSON object a line", Args: cobra.ExactArgs(1),
		Long: "Book the timers of a file, one JSON object a line, as the API takes them. - is standard input.\n" +
			"Each timer is accepted or refused separately.",
		Example: "wakecall batch bookings.ndjson",
		RunE: func(c *cobra.Command, args []string) error {
			err := call(v.shell, v.showAdded, book)(c, args)
			if err == nil && refused > 0 {
				err = program.Partial(fmt.Errorf("%d of %d timers were refused", refused, all))
			}
			return err
		},
	}
}

// addedLine is the result of one booking.
type addedLine struct {
	wire.Key
	client.Added
	Problem *client.Problem `json:"problem,omitempty"`
}

func addAll(c *cobra.Command, wakecall *client.Client, bookings []client.Booking) (lines []addedLine, err error) {
	for len(bookings) > 0 {
		part := bookings[:min(batchSize, len(bookings))]
		bookings = bookings[len(part):]
		added, err := wakecall.Timers.AddBatch(c.Context(), part)
		if err != nil && len(lines) > 0 {
			err = program.Partial(fmt.Errorf("%w\n%d timers were sent before", err, len(lines)))
		}
		if err != nil {
			return lines, err
		}
		for i, one := range added[:min(len(added), len(part))] {
			lines = append(lines, addedLine{Key: part[i].Key, Added: one, Problem: one.Problem})
		}
	}
	return lines, nil
}

func countRefused(lines []addedLine) (n int) {
	for _, line := range lines {
		if line.Problem != nil {
			n++
		}
	}
	return n
}

func (v bookingVerbs) showAdded(lines []addedLine) {
	var rows [][]string
	for _, line := range lines {
		status, why := v.status(line.Timer.Status), "-"
		if line.Problem != nil {
			status, why = v.coloured(red, "refused"), line.Problem.Error()
		}
		rows = append(rows, []string{status, line.String(), v.when(line.Timer.DueAt), why})
	}
	v.table([]string{v.coloured(plain, "STATUS"), "TIMER", "DUE", "WHY"}, rows)
}
