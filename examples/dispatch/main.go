// Command dispatch sends many callbacks at one flat rate, and shows their progress. It needs
// a Wakecall, such as the one of make run, and brings its own receiver.
//
//	go run ./dispatch -items 20000 -rate 500
package main

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// options define what to send, and where.
type options struct {
	url, key string
	items    int
	rate     float64
	flaky    int
}

func main() {
	o := options{url: "http://127.0.0.1:8080", key: os.Getenv("WAKECALL_API_KEY")}
	if url := os.Getenv("WAKECALL_URL"); url != "" {
		o.url = url
	}
	flag.StringVar(&o.url, "url", o.url, "where Wakecall's API is; also $WAKECALL_URL, with its key in $WAKECALL_API_KEY")
	flag.IntVar(&o.items, "items", 20_000, "how many items to send")
	flag.Float64Var(&o.rate, "rate", 500, "how many of them a second")
	flag.IntVar(&o.flaky, "flaky", 100, "the receiver fails the first attempt of one item in so many; 0 for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, newBar(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run sends the items and waits for their end. An interrupt cancels them.
func run(ctx context.Context, o options, bar *bar) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	receiver := &receiver{flaky: o.flaky, calls: map[string]int{}, seconds: map[int64]int{}}
	server := &http.Server{Handler: receiver, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()

	wakecall := client.New(client.Options{URL: o.url, Key: o.key}).Dispatches
	order := client.Order{Upload: true, Dispatch: dispatch.Dispatch{
		Key:       wire.Key{BusinessType: "demo", BusinessID: "reminders-" + strconv.FormatInt(time.Now().UnixMilli(), 36)},
		PerSecond: o.rate,
		Callback:  &delivery.Callback{Destination: delivery.HTTP("http://" + listener.Addr().String() + "/")},
		Retry:     &delivery.Retry{Steps: []wire.Duration{wire.Duration(time.Second), wire.Duration(2 * time.Second)}},
	}}
	if _, _, err := wakecall.Start(ctx, order); err != nil {
		return fmt.Errorf("is Wakecall there? Run make run first: %w", err)
	}
	view, err := wakecall.Upload(ctx, order.Key, 0, reminders(o.items))
	if err != nil {
		return err
	}
	bar.print("%s\n%d items are stored, and go out at %g a second.\n", order.Key, o.items, o.rate)
	if view.Links.WebUI != "" {
		bar.print("Its workflow: %s\n", view.Links.WebUI)
	}
	for view, err = range wakecall.Follow(ctx, order.Key) {
		if err != nil {
			return calledOff(ctx, wakecall, order.Key, err)
		}
		bar.show(view)
	}
	bar.print("\n%s: %d taken, %d failed, %d callbacks\n%s\n", view.Status, view.Done, view.Failed, view.Callbacks, receiver.summary())
	return nil
}

// calledOff cancels the dispatch if this program is stopping.
func calledOff(ctx context.Context, wakecall client.Dispatches, key wire.Key, err error) error {
	if ctx.Err() == nil {
		return err
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if _, _, err := wakecall.Cancel(leaving, key, nil); err != nil {
		return err
	}
	return fmt.Errorf("cancelled %s", key)
}

// reminders are the items, made as they are sent.
func reminders(n int) iter.Seq2[dispatch.Item, error] {
	return func(yield func(dispatch.Item, error) bool) {
		for i := range n {
			user := "user-" + strconv.Itoa(i+1)
			if !yield(client.Item(user, map[string]string{"text": "Dear " + user + ", your coupon ends tonight."}), nil) {
				return
			}
		}
	}
}
