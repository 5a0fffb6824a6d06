// Package client is the Go client of Wakecall's HTTP API.
//
//	wakecall := client.New(client.Options{URL: "http://127.0.0.1:8080"})
//	booked, err := wakecall.Timers.Add(ctx, client.Booking{
//		Key:   wire.Key{BusinessType: "order-close", BusinessID: "order-4711"},
//		Terms: client.Terms{Delay: client.After(30 * time.Minute), Payload: client.JSON(order)},
//	})
//
// A receiver that nobody can call connects, and is rung until the context ends:
//
//	err := wakecall.Streams.Listen(ctx, "order-close", client.Receiver{
//		Ring: func(ctx context.Context, ring client.Ring) error { return closeOrder(ctx, ring.Body) },
//	})
//
// A call ends with its context. What Wakecall refuses is a [*Problem], with the
// refused fields and, where it is the reason, the timer's true state. A call whose
// answer was lost, also behind a proxy that answers 502 or 504 for it, or that was
// refused for now, is repeated where that is safe: a booking carries an idempotency key
// for it. Ring now, redeliver, pause and resume are repeated only when they were never
// sent, or when the answer says that nothing was done.
//
// What travels both ways has its type in the rooms of core. This package imports nothing
// else of Wakecall's, and is the one that is made for importers: of the others they are
// promised nothing.
package client
