package verbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/terminal"
)

var (
	errJob      = program.Partial(errors.New("the job is incomplete: see wakecall bulk results"))
	errDeclined = program.Partial(errors.New("nothing was done"))
)

// onJob returns a command that shows a job, and fails unless the job did all its work.
func (v bulkVerbs) onJob(do action[client.BulkJob]) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		var last client.BulkJob
		err := call(v.shell, v.show, func(c *cobra.Command, wakecall *client.Client, args []string) (job client.BulkJob, err error) {
			last, err = do(c, wakecall, args)
			return last, err
		})(c, args)
		if err == nil && last.Ended() && (last.Status != job.Done || last.Failed > 0) {
			return errJob
		}
		return err
	}
}

// bulkVerbs are the commands on bulk jobs.
type bulkVerbs struct{ *shell }

func (v bulkVerbs) group() *cobra.Command {
	c := program.Group("bulk", "Change all timers that match a filter")
	for _, one := range []struct {
		operation job.Operation
		short     string
	}{
		{job.Cancel, "Cancel the open timers that match a filter"},
		{job.Move, "Move the open timers that match a filter"},
		{job.Edit, "Change the content of the open timers that match a filter"},
		{job.Fire, "Ring the open timers that match a filter"},
		{job.Redeliver, "Redeliver the failed timers that match a filter"},
	} {
		c.AddCommand(v.operation(one.operation, one.short))
	}
	c.AddCommand(&cobra.Command{
		Use: "get JOB", Short: "Show a bulk job", Args: cobra.ExactArgs(1), Example: "wakecall bulk get sale-extended",
		RunE: call(v.shell, v.show, func(c *cobra.Command, wakecall *client.Client, args []string) (client.BulkJob, error) {
			return wakecall.Bulk.Get(c.Context(), args[0])
		}),
	}, &cobra.Command{
		Use: "follow JOB", Short: "Follow a bulk job to its end", Args: cobra.ExactArgs(1), Example: "wakecall bulk follow sale-extended",
		RunE: v.onJob(func(c *cobra.Command, wakecall *client.Client, args []string) (client.BulkJob, error) {
			return v.follow(c.Context(), wakecall, args[0])
		}),
	}, &cobra.Command{
		Use: "stop JOB", Short: "Stop a bulk job", Args: cobra.ExactArgs(1), Example: "wakecall bulk stop sale-extended",
		RunE: call(v.shell, v.show, func(c *cobra.Command, wakecall *client.Client, args []string) (client.BulkJob, error) {
			return wakecall.Bulk.Stop(c.Context(), args[0])
		}),
	}, v.list(), v.results())
	return c
}

func (v bulkVerbs) list() *cobra.Command {
	var status string
	var limit int
	c := &cobra.Command{Use: "list", Short: "List bulk jobs", Args: cobra.NoArgs, Example: "wakecall bulk list --status running"}
	c.RunE = call(v.shell, v.showAll, func(c *cobra.Command, wakecall *client.Client, _ []string) ([]client.BulkJob, error) {
		return collect(wakecall.Bulk.List(c.Context(), job.Status(status)), limit)
	})
	c.Flags().StringVar(&status, "status", "", "only jobs in this status")
	limitFlag(c, &limit)
	completeWith(c, "status", job.Statuses())
	return c
}

// results prints each line as it arrives: there may be many thousands.
func (v bulkVerbs) results() *cobra.Command {
	c := &cobra.Command{Use: "results JOB", Short: "Show the result of each timer", Args: cobra.ExactArgs(1),
		Example: "wakecall bulk results sale-extended --result failed"}
	var only string
	c.RunE = func(c *cobra.Command, args []string) error {
		wakecall, err := v.client()
		if err != nil {
			return err
		}
		return printEach(v.shell, selected(wakecall.Bulk.Results(c.Context(), args[0]), job.Result(only)), v.resultLine)
	}
	c.Flags().StringVar(&only, "result", "", "only timers with this result")
	completeWith(c, "result", job.Results())
	return c
}

// selected returns the lines with a result, or all of them if it is empty.
func selected(list iter.Seq2[job.Line, error], result job.Result) iter.Seq2[job.Line, error] {
	return func(yield func(job.Line, error) bool) {
		for line, err := range list {
			if (err != nil || result == "" || line.Result == result) && !yield(line, err) {
				return
			}
		}
	}
}

// bulkFlags holds the flags of a bulk job.
type bulkFlags struct {
	order                              client.BulkOrder
	status                             string
	dueFrom, dueTo, endedFrom, endedTo string
	within                             time.Duration
	shift, edit                        string
	all, yes, noWait                   bool
}

func (v bulkVerbs) operation(operation job.Operation, short string) *cobra.Command {
	f := &bulkFlags{order: client.BulkOrder{Operation: operation}}
	c := &cobra.Command{Use: string(operation), Short: short, Args: cobra.NoArgs,
		Example: "wakecall bulk " + string(operation) + " --type order-close --dry-run"}
	c.RunE = v.onJob(func(c *cobra.Command, wakecall *client.Client, _ []string) (client.BulkJob, error) {
		if err := f.read(v.shell); err != nil {
			return client.BulkJob{}, program.Wrong(err)
		}
		return v.run(c.Context(), wakecall, f)
	})
	f.flags(c, operation)
	return c
}

func (f *bulkFlags) flags(c *cobra.Command, operation job.Operation) {
	filter, flags := &f.order.Filter, c.Flags()
	flags.StringVar(&filter.BusinessType, "type", "", "only timers of this business type")
	flags.StringVar(&filter.BusinessID, "id", "", "only timers with this business id")
	flags.StringVar(&f.status, "status", "", "only timers in this status")
	flags.StringToStringVar((*map[string]string)(&filter.Labels), "label", nil, "only timers with this label, as key=value; may be repeated")
	flags.BoolVar(&filter.Recurring, "recurring", false, "only recurring timers")
	flags.StringVar(&f.dueFrom, "due-from", "", "only timers that are due at this time or later")
	flags.StringVar(&f.dueTo, "due-to", "", "only timers that are due at this time or earlier")
	addDuration(c, &f.within, "due-within", "only timers that are due within this time, such as 1h")
	flags.BoolVar(&f.all, "all", false, "all timers, without another condition")
	flags.StringVar(&f.order.ID, "job", "", "an id for the job: to repeat the order under it starts no second job")
	flags.Float64Var(&f.order.PerSecond, "rate", 0, "how many timers a second at most; by default 50")
	flags.BoolVar(&f.order.DryRun, "dry-run", false, "only count the timers")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask for a confirmation")
	flags.BoolVar(&f.noWait, "no-wait", false, "do not wait for the end")
	c.MarkFlagsMutuallyExclusive("due-to", "due-within")
	switch operation {
	case job.Move:
		flags.StringVar(&f.shift, "shift", "", "by how much, such as 2h or -30m")
		c.Example += " --shift 2h"
		_ = c.MarkFlagRequired("shift")
	case job.Edit:
		flags.StringVar(&f.edit, "set", "", `what to change, such as '{"priority": 2}', as `+documentForms)
		c.Example += ` --set '{"priority": 2}'`
		_ = c.MarkFlagRequired("set")
	case job.Redeliver:
		flags.StringVar(&f.endedFrom, "ended-from", "", "only timers that failed at this time or later")
		flags.StringVar(&f.endedTo, "ended-to", "", "only timers that failed at this time or earlier")
	default:
	}
	completeWith(c, "status", timer.Statuses())
}

// read parses the flags that are not plain text.
func (f *bulkFlags) read(s *shell) error {
	filter := &f.order.Filter
	filter.Status = timer.Status(f.status)
	for _, one := range []struct {
		text string
		into *wire.Instant
	}{{f.dueFrom, &filter.DueFrom}, {f.dueTo, &filter.DueTo}, {f.endedFrom, &filter.EndedFrom}, {f.endedTo, &filter.EndedTo}} {
		if one.text != "" {
			if err := one.into.UnmarshalText([]byte(one.text)); err != nil {
				return fmt.Errorf("%s: %w", one.text, err)
			}
		}
	}
	if f.within > 0 {
		filter.DueTo = wire.At(s.Now().Add(f.within))
	}
	if f.all != reflect.ValueOf(*filter).IsZero() {
		return errors.New("select timers with a flag such as --type order-close, or with --all")
	}
	if f.shift != "" {
		if err := f.order.Shift.UnmarshalText([]byte(f.shift)); err != nil {
			return fmt.Errorf("%s: %w", f.shift, err)
		}
	}
	if f.edit == "" {
		return nil
	}
	f.order.Edit = &client.Terms{}
	return s.fill("--set", f.edit, f.order.Edit)
}

// run asks for confirmation, orders the job and waits.
func (v bulkVerbs) run(ctx context.Context, wakecall *client.Client, f *bulkFlags) (job client.BulkJob, err error) {
	if !f.yes && !f.order.DryRun {
		if job, err = v.confirm(ctx, wakecall, f.order); err != nil {
			return job, err
		}
		f.order.Counted, f.order.Filter = job.ID, job.Filter
	}
	if job, _, err = wakecall.Bulk.Start(ctx, f.order); err != nil || f.noWait {
		return job, err
	}
	return v.follow(ctx, wakecall, job.ID)
}

// confirm counts the timers of an order, and asks whether to go on.
func (v bulkVerbs) confirm(ctx context.Context, wakecall *client.Client, order client.BulkOrder) (job client.BulkJob, err error) {
	if !v.Asks {
		return job, program.Wrong(errors.New("give --yes or --dry-run: there is no terminal for a confirmation"))
	}
	order.ID, order.DryRun = "", true
	if job, _, err = wakecall.Bulk.Start(ctx, order); err != nil {
		return job, err
	}
	if job, err = v.follow(ctx, wakecall, job.ID); err != nil {
		return job, err
	}
	found := 0
	if job.Found != nil {
		found = *job.Found
	}
	v.complain("%s %d timers? [y/N] ", strings.ToUpper(string(order.Operation[:1]))+string(order.Operation[1:]), found)
	if answer := strings.ToLower(strings.TrimSpace(v.readAnswer(ctx))); answer == "y" || answer == "yes" {
		return job, nil
	}
	if err := ctx.Err(); err != nil {
		v.complain("Nothing was done.\n")
		return job, err
	}
	return job, errDeclined
}

// readAnswer returns the user's line, or "" if ctx ends first: an interrupt is a no.
func (v bulkVerbs) readAnswer(ctx context.Context) string {
	line, _ := bufio.NewReader(v.In).ReadString('\n')
	if ctx.Err() != nil {
		v.complain("\n")
		return ""
	}
	return line
}

// follow shows the progress of a job until it has ended.
func (v bulkVerbs) follow(ctx context.Context, wakecall *client.Client, id string) (job client.BulkJob, err error) {
	bar := v.newBar()
	defer bar.clear()
	for {
		if job, err = wakecall.Bulk.Get(ctx, id); err != nil || job.Ended() {
			return job, err
		}
		bar.show(string(job.Status), ended(job.Tally), job.Found)
		select {
		case <-time.After(v.Poll):
		case <-ctx.Done():
			v.complain("\nThe job continues: wakecall bulk follow %s, or wakecall bulk stop %s\n", id, id)
			return job, ctx.Err()
		}
	}
}

func (v bulkVerbs) show(job client.BulkJob) { v.showAll([]client.BulkJob{job}) }

func (v bulkVerbs) showAll(jobs []client.BulkJob) {
	var rows [][]string
	for _, job := range jobs {
		found, what := "-", string(job.Operation)
		if job.Found != nil {
			found = fmt.Sprint(*job.Found)
		}
		if job.DryRun {
			what += " (dry run)"
		}
		rows = append(rows, []string{
			v.statusOf(job.Status) + stopping(job.CancelRequested), job.ID, what, found, fmt.Sprint(job.Done), fmt.Sprint(job.Skipped),
			fmt.Sprint(job.Failed), v.when(job.StartedAt),
		})
	}
	v.table([]string{v.coloured(plain, "STATUS"), "JOB", "OPERATION", "FOUND", "DONE", "SKIPPED", "FAILED", "STARTED"}, rows)
}

func (v bulkVerbs) statusOf(status job.Status) string {
	colour := plain
	switch status {
	case job.Done:
		colour = green
	case job.Failed, job.Stopped:
		colour = red
	case job.Running:
		colour = yellow
	}
	return v.coloured(colour, string(status))
}

func (v bulkVerbs) resultLine(line job.Line) string {
	colour := green
	switch line.Result {
	case job.ResultSkipped, job.ResultPending:
		colour = yellow
	case job.ResultFailed:
		colour = red
	default:
	}
	why := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", line.Code, line.Status, line.Detail)), " ")
	if line.Result == job.ResultFound {
		colour, why = plain, "due "+v.when(line.DueAt)
	}
	return fmt.Sprintf("%s  %s  %s", v.coloured(colour, fmt.Sprintf("%-7s", line.Result)), line.Key, terminal.Safe(why))
}

// ended returns the number of finished timers of a job.
func ended(counts job.Tally) int { return counts.Done + counts.Skipped + counts.Failed }
