// Package client is the Go client of Wakecall's HTTP API.
//
//	wakecall := client.New(client.Options{URL: "http://127.0.0.1:8080"})
//	booked, err := wakecall.Timers.Add(ctx, client.Booking{
//		Key:   wire.Key{BusinessType: "order-close", BusinessID: "order-4711"},
//		Terms: client.Terms{Delay: client.After(30 * time.Minute), Payload: client.JSON(order)},
//	})
//
// A receiver behind a firewall connects, and is rung until the context ends:
//
//	err := wakecall.Streams.Listen(ctx, "order-close", client.Receiver{
//		Ring: func(ctx context.Context, ring client.Ring) error { return closeOrder(ctx, ring.Body) },
//	})
//
// A call ends with its context. A call whose body or answer has any length also ends when Wakecall
// takes or sends nothing for [DefaultTimeout]. A refusal is a [*Problem], with the refused fields
// and, if it is the reason, the timer's true state.
//
// The client repeats a call if that is safe, in these cases:
//
//   - The answer was lost, or a proxy answered 502 or 504 in its place.
//   - The call was refused for now.
//
// It calls a server whose certificate is not trusted only once.
//
// A booking carries an idempotency key for this. Fire, redeliver, pause and resume are repeated
// only if they were never sent, or if the answer says that nothing was done.
//
// Types of requests and answers are in the rooms of core. This package imports nothing else of
// Wakecall's. It is the only one meant for importers: the others carry no promise.
package client
