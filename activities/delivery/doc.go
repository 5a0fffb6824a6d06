// Package delivery makes the attempts of a timer's delivery. It has the receiver called, and
// reports the next step in Temporal's terms. Messages leave through package send.
//
// Start at [Attempter.FirstAttempt], the attempt on the fast path within a workflow task,
// and at [Attempter.Deliver], every other one. An attempt is prepared from the live policy,
// routed, sent, judged and reported, each in a file of that name. The first attempt is
// preloaded: it waits in memory for its last moments. Before the end it checks whether the
// timer is still wanted. Temporal is the only retrier.
package delivery
