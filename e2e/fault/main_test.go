package fault

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wakecall/wakecall/e2e/fault/oracle"
	"github.com/wakecall/wakecall/e2e/process"
)

// long reports whether everything runs, and not only the short set.
var long = process.Long()

// seed determines all random choices.
var seed = func() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("WAKECALL_FAULT_SEED"), 10, 64); err == nil {
		return n
	}
	return rand.Uint64N(1 << 32)
}()

// longOnly leaves a scenario to the long set.
func longOnly(t *testing.T) {
	t.Helper()
	if !long {
		t.Skip("in the long set only: make fault")
	}
}

// scaled is a number for the long set, and a smaller one for the short set.
func scaled(inLong, inShort int) int {
	if long {
		return inLong
	}
	return inShort
}

func TestMain(m *testing.M) {
	code := m.Run()
	if table := results.table(); table != "" {
		fmt.Printf("seed %d\n\n%s\n", seed, table)
		if file := os.Getenv("WAKECALL_FAULT_TABLE"); file != "" {
			if err := os.WriteFile(file, []byte(table), 0o644); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// results are the rows of the table.
var results rows

type rows struct {
	mu   sync.Mutex
	rows []row
}

type row struct {
	fault  string
	broken int
	oracle.Summary
}

func (r *rows) add(fault string, summary oracle.Summary, broken int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row{fault, broken, summary})
}

// table is in Markdown.
func (r *rows) table() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 {
		return ""
	}
	slices.SortStableFunc(r.rows, func(a, b row) int { return cmp.Compare(a.fault, b.fault) })
	var text strings.Builder
	text.WriteString("| fault | timers | lost | early | duplicates | late, p99 | worst lateness | time to recover | broken promises |\n")
	text.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.rows {
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %d | %s | %s | %s | %d |\n", row.fault, row.Timers, row.Lost, row.Early,
			row.Duplicates, rounded(row.P99), rounded(row.Worst), rounded(row.Recovery), row.broken)
	}
	return text.String()
}

func rounded(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
