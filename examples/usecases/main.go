// Command usecases shows what timers are for. Each use case is a small program. It books
// timers at a running Wakecall, such as the one of make run, and prints what happens. It
// brings a receiver that verifies signatures with the official Standard Webhooks library.
//
//	go run ./usecases order-close        in some seconds
//	go run ./usecases -takes 0 order-close    in real time
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/wakecall/wakecall/client"
)

// useCases are the use cases by name.
var useCases = map[string]func(context.Context, *stage) error{
	"order-close":     closeUnpaidOrder,
	"debit":           debitAfterNotice,
	"coupon":          remindOfCoupon,
	"nightly-ranking": rankNightly,
	"refund-poll":     pollRefund,
	"idle-shop":       askIdleShop,
	"room-free":       freeRoom,
	"push":            pushScore,
	"mass-reward":     rewardAll,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout))
}

// run plays the use cases that the arguments name, and returns the exit code.
func run(ctx context.Context, args []string, out io.Writer) int {
	url := os.Getenv("WAKECALL_URL")
	if url == "" {
		url = "http://127.0.0.1:8080"
	}
	flags := flag.NewFlagSet("usecases", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(out, "usecases [flags] %s | all\n", strings.Join(names(), " | "))
		flags.PrintDefaults()
	}
	flags.StringVar(&url, "url", url, "where Wakecall's API is; also $WAKECALL_URL, with its key in $WAKECALL_API_KEY")
	takes := flags.Duration("takes", 3*time.Second, "the longest wait of a use case is played in so much; 0 for real time")
	if flags.Parse(args) != nil || flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	chosen := []string{flags.Arg(0)}
	if chosen[0] == "all" {
		chosen = names()
	}
	wakecall := client.New(client.Options{URL: url, Key: os.Getenv("WAKECALL_API_KEY")})
	for _, name := range chosen {
		play := useCases[name]
		if play == nil {
			flags.Usage()
			return 2
		}
		if err := perform(ctx, &stage{wakecall: wakecall, name: name, takes: *takes, out: out}, play); err != nil {
			_, _ = fmt.Fprintln(out, name+":", err)
			return 1
		}
	}
	return 0
}

func names() []string { return slices.Sorted(maps.Keys(useCases)) }
