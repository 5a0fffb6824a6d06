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
	// worker makes the workers that poll.
	worker func(queue string, options sdkworker.Options) sdkworker.Worker
	// answers are taken for as long as attempts wait for them.
	attempts, answers *pollers

	mu        sync.Mutex
	types     map[string]*streamPolls
	answering sync.Once
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
	return &Streams{
		options: options, attempts: newPollers(), answers: newPollers(), types: map[string]*streamPolls{},
		worker: func(queue string, o sdkworker.Options) sdkworker.Worker {
			return sdkworker.New(options.Client, queue, o)
		},
	}
}

// SetPlaces says how many rings the receivers of a type take at once. It does not block.
func (s *Streams) SetPlaces(businessType string, places int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	polls := s.types[businessType]
	if polls == nil {
		if places == 0 || s.attempts.all.Err() != nil {
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
		s.answering.Do(func() { s.answers.running.Go(func() { s.poll(s.answers.all, "", s.takeAnswers) }) })
	}
	ctx, end := context.WithCancel(s.attempts.all)
	polls := &streamPolls{slots: newTypeSlots(0), end: end}
	polls.idle = time.AfterFunc(tuning.StreamLinger, func() { s.close(businessType, polls) })
	s.types[businessType] = polls
	s.attempts.running.Go(func() {
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
	w := s.worker(workflows.StreamQueue(businessType), options)
	register(w, workflows.ActivityDeliver, s.options.Attempter.Deliver)
	return w
}

// takeAnswers are polls for answers that came to other gateways.
func (s *Streams) takeAnswers() sdkworker.Worker {
	w := s.worker(workflows.AnswersQueue(s.options.Identity), sdkworker.Options{
		DisableWorkflowWorker: true, MaxConcurrentActivityTaskPollers: tuning.AnswerPollers, DisableEagerActivities: true,
		WorkerStopTimeout: tuning.StreamReport, // who gave the last answer waits to hear that it counts
	})
	register(w, workflows.ActivityAnswerRing, s.options.Answer)
	return w
}

// Stop ends polling and waits for the attempts in flight, which end with their answers or
// their connections. Answers are taken until then: a receiver that got its ring by a long poll
// has no other way left to give one.
func (s *Streams) Stop() {
	s.mu.Lock()
	s.attempts.stop()
	for _, polls := range s.types {
		polls.idle.Stop()
	}
	s.mu.Unlock()
	s.attempts.running.Wait()
	s.answers.stop()
	s.answers.running.Wait()
}

// pollers poll until all is done.
type pollers struct {
	all     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
}

func newPollers() *pollers {
	p := &pollers{}
	p.all, p.stop = context.WithCancel(context.Background())
	return p
}
