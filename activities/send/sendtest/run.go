package sendtest

import (
	"context"
	"testing"
)

// Rule is one rule for transports.
type Rule struct {
	Name  string
	check func(c *check)
}

// Check holds a subject to the rule, and closes it.
func (r Rule) Check(ctx context.Context, report Reporter, open func() Subject) {
	report.Helper()
	begun := goroutines()
	subject := open()
	c := &check{Reporter: report, Subject: subject, ctx: ctx, tap: &tap{Transport: subject.Transport}}
	r.check(c)
	subject.Close()
	if left := begun.left(); left != "" {
		c.Errorf("goroutines are left behind:\n%s", left)
	}
}

// Run checks a transport against every rule. It must not run beside other tests, whose
// goroutines would count.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			rule.Check(t.Context(), t, func() Subject { return open(t) })
		})
	}
}
