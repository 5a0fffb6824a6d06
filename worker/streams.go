package worker

import (
	"context"
	"sync"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Streams poll the queues of those business types of which a receiver is connected to
// this process, for as many attempts at once as the receivers take. An attempt for which
// nobody is connected anywhere stays in Temporal.
type Streams struct {
	options Options
	// all is done when every poll shall end.
	all  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	types   map[string]*streamPolls
	answers sync.Once
	running sync.WaitGroup
}

// streamPolls poll the queue of one business type.
type streamPolls struct {
	slots *typeSlots
	end   context.CancelFunc
	// idle ends them some time after the last receiver has left: one that polls by HTTP
	// comes and goes with each call.
	idle *time.Timer
}

// NewStreams returns Streams to which nobody is connected. Of the options it needs the
// client, the attempter, the logger and the stop timeout.
// Where it has Answer and an identity, they take answers that came to other gateways, too.
func NewStreams(options Options) *Streams {
	s := &Streams{options: options, types: map[string]*streamPolls{}}
	s.all, s.stop = context.WithCancel(context.Background())
	return s
}

// SetPlaces says how many rings the receivers of a type take at once. It does not block.
func (s *Streams) SetPlaces(businessType string, places int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	polls := s.types[businessType]
	if polls == nil {
		if places == 0 || s.all.Err() != nil {
			return
		}
		polls = s.open(businessType)
	}
	polls.slots.resize(places)
	polls.idle.Stop()
	if places == 0 {
		polls.idle.Reset(tuning.StreamLinger)
	}
}

// open begins to poll. The caller holds mu.
func (s *Streams) open(businessType string) *streamPolls {
	if s.options.Answer != nil {
		s.answers.Do(func() { s.running.Go(func() { s.poll(s.all, "", s.takeAnswers) }) })
	}
	ctx, end := context.WithCancel(s.all)
	polls := &streamPolls{slots: newTypeSlots(0), end: end}
	polls.idle = time.AfterFunc(tuning.StreamLinger, func() { s.close(businessType, polls) })
	s.types[businessType] = polls
	s.running.Go(func() {
		s.poll(ctx, businessType, func() sdkworker.Worker { return s.makeAttempts(businessType, polls.slots) })
	})
	return polls
}

// close ends the polls of a type, unless a receiver has connected meanwhile.
func (s *Streams) close(businessType string, polls *streamPolls) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.types[businessType] == polls && polls.slots.capacity() == 0 {
		delete(s.types, businessType)
		polls.end()
	}
}

// poll polls until ctx is done, and waits for the attempts in flight. A Temporal that
// does not answer is asked again: until it does, the receivers are rung by nobody.
func (s *Streams) poll(ctx context.Context, businessType string, open func() sdkworker.Worker) {
	for ctx.Err() == nil {
		w := open()
		err := w.Start()
		if err == nil {
			<-ctx.Done()
			w.Stop()
			return
		}
		s.options.Logger.Warn("a stream could not be polled", "business_type", businessType, "error", err)
		select {
		case <-time.After(tuning.StreamRestart):
		case <-ctx.Done():
		}
	}
}

// makeAttempts are polls for the attempts of a type.
func (s *Streams) makeAttempts(businessType string, slots *typeSlots) sdkworker.Worker {
	options := typeWorkerOptions(s.options, slots)
	options.MaxHeartbeatThrottleInterval = tuning.StreamHeartbeat
	if s.options.Answer == nil { // nobody is connected here: no sign of life of a receiver
		options.Identity = s.options.Identity + workflows.Drains
	}
	w := sdkworker.New(s.options.Client, workflows.StreamQueue(businessType), options)
	register(w, workflows.ActivityDeliver, s.options.Attempter.Deliver)
	return w
}

// takeAnswers are polls for answers that came to other gateways.
func (s *Streams) takeAnswers() sdkworker.Worker {
	w := sdkworker.New(s.options.Client, workflows.AnswersQueue(s.options.Identity), sdkworker.Options{
		DisableWorkflowWorker: true, MaxConcurrentActivityTaskPollers: tuning.AnswerPollers, DisableEagerActivities: true,
	})
	register(w, workflows.ActivityAnswerRing, s.options.Answer)
	return w
}

// Stop ends polling and waits for the attempts in flight, which end with their
// connections.
func (s *Streams) Stop() {
	s.stop()
	s.mu.Lock()
	for _, polls := range s.types {
		polls.idle.Stop()
	}
	s.mu.Unlock()
	s.running.Wait()
}
