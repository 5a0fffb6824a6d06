package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// recorded answers each ledger with the series that belong to it.
type recorded struct {
	*enginetest.Temporal
	series map[string]slo.Series
}

//nolint:revive // the signature of the client
func (r recorded) QueryWorkflow(_ context.Context, id, _, _ string, _ ...any) (converter.EncodedValue, error) {
	answer := workflows.LedgerAnswer{Series: map[string]slo.Series{}}
	for businessType, series := range r.series {
		if workflows.LedgerID(workflows.LedgerOf(businessType)) == id {
			answer.Series[businessType] = series
		}
	}
	payloads, err := kernel.Payloads.ToPayloads(answer)
	return client.NewValue(payloads), err
}

// promised are policies by business type, as they are stored and as this process read them last.
type promised struct{ stored, read map[string]policy.Policy }

func (p promised) LastRead(businessType string) policy.Policy { return p.read[businessType] }

func (p promised) Cached(_ context.Context, businessType string) (policy.Policy, error) {
	if p.stored == nil {
		return policy.Policy{}, &wire.Error{Code: wire.Unavailable, Message: "Temporal is gone"}
	}
	stored, known := p.stored[businessType]
	p.read[businessType] = stored
	if !known {
		return stored, &wire.Error{Code: wire.NotFound}
	}
	return stored, nil
}

func (p promised) Trusted(businessType string) (known policy.Policy, ok bool) {
	known, ok = p.read[businessType]
	return known, ok
}

func (p promised) List(context.Context) (all []policy.Policy, err error) {
	if p.stored == nil {
		return nil, errors.New("visibility is gone")
	}
	return slices.Collect(maps.Values(p.stored)), nil
}

// open counts open timers by business type: those of one, or of each type with a policy, which
// are those whose names do not begin with "bare", and of further ones.
type open map[string]int

func (o open) Count(_ context.Context, businessType string) (stats timer.Stats, err error) {
	if o == nil {
		return stats, errors.New("visibility is gone")
	}
	if businessType != "" {
		return timer.Stats{BusinessTypes: []timer.TypeStats{{BusinessType: businessType, Timers: timer.StatusCounts{Scheduled: o[businessType]}}}}, nil
	}
	return o.CountWith(context.Background(), nil)
}

func (o open) CountWith(_ context.Context, further []string) (stats timer.Stats, err error) {
	if o == nil {
		return stats, errors.New("visibility is gone")
	}
	for name, n := range o {
		if !strings.HasPrefix(name, "bare") || slices.Contains(further, name) {
			stats.BusinessTypes = append(stats.BusinessTypes, timer.TypeStats{BusinessType: name, Timers: timer.StatusCounts{Scheduled: n}})
		}
	}
	return stats, nil
}

// The list of all types has of each what its own report has, also of a type without a policy.
func TestATypeIsReportedAlikeAloneAndAmongAll(t *testing.T) {
	t.Parallel()
	series := map[string]slo.Series{}
	for i, businessType := range []string{"order", "bare", "bare-2"} {
		series[businessType] = slo.Series{}.Record(wire.At(time.Now()), slo.Counts{Booked: int64(i), Rung: 2, OnTime: 1})
	}
	k := kernel.New(recorded{&enginetest.Temporal{}, series}, "default", "")
	t.Cleanup(k.EndWaits)
	policies := promised{map[string]policy.Policy{"order": {BusinessType: "order", OnTime: wire.Duration(time.Minute)}}, map[string]policy.Policy{}}
	read := func(businessType string) []slo.Report {
		reports, err := New(k, policies, open{"order": 1, "bare": 5, "bare-2": 0, "bare-and-forgotten": 1}).Read(t.Context(),
			Request{BusinessType: businessType, Window: time.Hour, Target: 0.9}, func(string) bool { return true })
		require.NoError(t, err)
		for i := range reports.BusinessTypes {
			reports.BusinessTypes[i].From, reports.BusinessTypes[i].To = 0, 0
		}
		return reports.BusinessTypes
	}
	all := read("")
	require.Len(t, all, 3)
	for _, one := range all {
		require.NotNil(t, one.Open)
		require.Equal(t, read(one.BusinessType), []slo.Report{one})
	}
}

// A type is reported with its open timers, also where none was booked or ended for so long that
// its ledger has forgotten it.
func TestTypesWithoutCountsAreReported(t *testing.T) {
	t.Parallel()
	on := recorded{&enginetest.Temporal{}, map[string]slo.Series{"order": slo.Series{}.Record(wire.At(time.Now()), slo.Counts{Booked: 3, Rung: 2})}}
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	read := func(businessType string, stats Stats) map[string]string {
		reports, err := New(k, promised{read: map[string]policy.Policy{}}, stats).Read(t.Context(), Request{BusinessType: businessType, Window: time.Hour, Target: 0.9},
			func(businessType string) bool { return businessType != "hidden" })
		require.NoError(t, err)
		found, last := map[string]string{}, ""
		for _, report := range reports.BusinessTypes {
			require.Greater(t, report.BusinessType, last, "they are in order, and each is there once")
			last = report.BusinessType
			found[last] = "booked " + strconv.FormatInt(report.Booked, 10) + ", open unknown"
			if report.Open != nil {
				found[last] = "booked " + strconv.FormatInt(report.Booked, 10) + ", open " + strconv.FormatInt(*report.Open, 10)
			}
		}
		return found
	}
	all := open{"order": 1, "fresh": 2, "hidden": 3}
	require.Equal(t, map[string]string{"order": "booked 3, open 1", "fresh": "booked 0, open 2"}, read("", all))
	require.Equal(t, map[string]string{"fresh": "booked 0, open 2"}, read("fresh", all))
	require.Equal(t, map[string]string{"order": "booked 3, open 1"}, read("order", all))
	require.Equal(t, map[string]string{"order": "booked 3, open unknown"}, read("", open(nil)))
	require.Equal(t, map[string]string{"fresh": "booked 0, open unknown"}, read("fresh", open(nil)))
}

// The objective is that of the policy as it is stored, also at a gateway that never read it, or that
// read it before it was changed or deleted.
func TestTheObjectiveIsOfThePolicyNow(t *testing.T) {
	t.Parallel()
	k := kernel.New(recorded{&enginetest.Temporal{}, map[string]slo.Series{"gone": slo.Series{}.Record(wire.At(time.Now()), slo.Counts{Booked: 1})}}, "default", "")
	t.Cleanup(k.EndWaits)
	named := func(businessType string, onTime time.Duration) policy.Policy {
		return policy.Policy{BusinessType: businessType, OnTime: wire.Duration(onTime)}
	}
	read := map[string]policy.Policy{"changed": named("changed", time.Minute), "gone": named("gone", time.Minute)}
	stored := map[string]policy.Policy{"unread": named("unread", time.Hour), "changed": named("changed", 2*time.Second), "plain": named("plain", 0)}
	objectives := func(businessType string, policies Policies) map[string]string {
		reports, err := New(k, policies, open{"unread": 1, "changed": 1, "plain": 1}).Read(t.Context(),
			Request{BusinessType: businessType, Window: time.Hour, Target: 0.9}, func(string) bool { return true })
		require.NoError(t, err)
		found := map[string]string{}
		for _, report := range reports.BusinessTypes {
			found[report.BusinessType] = report.Objective.OnTime.String()
		}
		return found
	}
	now := map[string]string{"unread": "1h", "changed": "2s", "plain": "1s", "gone": "1s"}
	require.Equal(t, now, objectives("", promised{stored, maps.Clone(read)}))
	for name, onTime := range now {
		require.Equal(t, map[string]string{name: onTime}, objectives(name, promised{stored, maps.Clone(read)}))
	}
	require.Equal(t, map[string]string{"unread": "1s", "changed": "1m", "plain": "1s", "gone": "1m"}, objectives("", promised{nil, read}), "as last read")
}
