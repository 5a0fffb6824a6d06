package engine

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

const (
	// recordsAtOnce is how many workflow tasks are completed at once. More would
	// wait inside Temporal, and time out there, when a herd has rung.
	recordsAtOnce = 64
	// recordTimeout bounds one completion; the SDK sets the same.
	recordTimeout = 10 * time.Second
	// firstRate is what an engine on two cores records in a second.
	firstRate = 200
	// measureFor is the least time over which a rate is measured, and newsWeight
	// what the newest one counts.
	measureFor = time.Second
	newsWeight = 0.3
)

// Recorder stands between the SDK's workers and Temporal: it completes workflow
// tasks in an orderly queue, and measures how fast Temporal records them.
type Recorder struct {
	turns chan struct{}

	mu   sync.Mutex
	rate float64 // tasks per second, while there was a queue
	// waiting is how many want a turn; since is when the queue formed, and done
	// what was recorded since.
	waiting int
	since   time.Time
	done    int
}

// NewRecorder returns a Recorder for one connection.
func NewRecorder() *Recorder {
	return &Recorder{turns: make(chan struct{}, recordsAtOnce), rate: firstRate}
}

// Rate is how many tasks a second Temporal was seen to record when it had all
// to do.
func (r *Recorder) Rate() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rate
}

// DialOption puts the recorder into a connection.
func (r *Recorder) DialOption() grpc.DialOption { return grpc.WithChainUnaryInterceptor(r.intercept) }

//nolint:revive // gRPC's signature
func (r *Recorder) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if method != workflowservice.WorkflowService_RespondWorkflowTaskCompleted_FullMethodName {
		return invoke(ctx, method, request, reply, conn, options...)
	}
	r.queue()
	r.turns <- struct{}{}
	defer func() { <-r.turns; r.recorded() }()
	// The SDK's deadline began before the queue.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return invoke(ctx, method, request, reply, conn, options...)
}

func (r *Recorder) queue() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting++; r.waiting == recordsAtOnce+1 {
		r.since, r.done = time.Now(), 0
	}
}

func (r *Recorder) recorded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting--
	r.done++
	took := time.Since(r.since)
	if r.waiting < recordsAtOnce || took < measureFor {
		return
	}
	r.rate += newsWeight * (float64(r.done)/took.Seconds() - r.rate)
	r.since, r.done = time.Now(), 0
}
