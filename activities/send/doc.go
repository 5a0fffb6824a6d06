// Package send sends messages. A [Message] needs no timer: attempts of deliveries and alerts
// leave alike. [Sender] signs it, bounds and traces the attempt, and hands it to the
// [Transport] of its [delivery.Destination].
//
// A transport is one package beside this one, and the only one that knows its library:
// send/http knows resty. To add one:
//
//  1. Give [delivery.Destination] its fields, their checks and a kind.
//  2. Implement [Transport]: carry the envelope unchanged, honour the context, and report
//     the outcome in a [delivery.Answer]. In every protocol, acceptance is Delivered, a
//     refusal is [delivery.Answered] with its text as the detail, a request for patience is
//     RetryAfter, and a permanent refusal is NoRetry. An unclear outcome is not delivered.
//  3. Run it through sendtest.
//  4. Hand it to [New] where the roles are built, and give it a line in internal/arch.
//
// Temporal is the only retrier: a transport makes one attempt. It may resend the same
// envelope once, at once, if the first most likely never reached a receiver.
package send
