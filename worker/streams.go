package worker

import (
	"context"
	"sync"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	coredelivery "github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Streams polls the queues of business types with a receiver connected to this process, for as
// many attempts at once as the receivers take. An attempt without any connected receiver stays
// in Temporal.
type Streams struct {
	options Options
	answer  func(context.Context, coredelivery.RingAnswer) error
	// worker makes the polling workers.
	worker func(queue string, options sdkworker.Options) sdkworker.Worker
	// answers are taken as long as attempts wait for them.
	attempts, answers *pollers

	mu        sync.Mutex
	types     map[string]*streamPolls
	answering sync.Once
}

// streamPolls polls the queue of one business type.
type streamPolls struct {
	slots *typeSlots
	end   context.CancelFunc
	// idle ends the polls some time after the last receiver has left, because one that polls by
	// HTTP comes and goes with each call.
	idle *time.Timer
}

// NewStreams returns Streams without receivers. It needs the client, the attempter, the logger
// and the stop timeout of the options.
//
// answer passes a receiver's answer to a ring of this process, and fails if the ring is over. It
// is nil if no receiver connects. With it and an identity, Streams also take answers that reached
// other gateways.
func NewStreams(options Options, answer func(context.Context, coredelivery.RingAnswer) error) *Streams {
	return &Streams{
		options: options, answer: answer, attempts: newPollers(), answers: newPollers(), types: map[string]*streamPolls{},
		worker: func(queue string, o sdkworker.Options) sdkworker.Worker {
			return sdkworker.New(options.Client, queue, o)
		},
	}
}

// SetPlaces sets how many rings the receivers of a type take at once. It does not block.
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
	if s.answer != nil {
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

// close ends the polls of a type, unless a receiver has connected again.
func (s *Streams) close(businessType string, polls *streamPolls) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.types[businessType] == polls && polls.slots.capacity() == 0 {
		delete(s.types, businessType)
		polls.end()
	}
}

// poll polls until ctx is done, and waits for the attempts in flight. It retries while Temporal
// does not answer, because no receiver is rung in that time.
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

// makeAttempts returns a worker for the attempts of a type.
func (s *Streams) makeAttempts(businessType string, slots *typeSlots) sdkworker.Worker {
	options := typeWorkerOptions(s.options, slots)
	options.MaxHeartbeatThrottleInterval = tuning.StreamHeartbeat
	if s.answer == nil { // no receiver is connected here
		options.Identity = s.options.Identity + workflows.Drains
	}
	w := s.worker(workflows.StreamQueue(businessType), options)
	register(w, workflows.ActivityDeliver, s.options.Attempter.Deliver)
	return w
}

// takeAnswers returns a worker for answers that reached other gateways.
func (s *Streams) takeAnswers() sdkworker.Worker {
	w := s.worker(workflows.AnswersQueue(s.options.Identity), sdkworker.Options{
		DisableWorkflowWorker: true, MaxConcurrentActivityTaskPollers: tuning.AnswerPollers, DisableEagerActivities: true,
		WorkerStopTimeout: tuning.StreamReport, // the sender of the last answer waits for its result
	})
	register(w, workflows.ActivityAnswerRing, s.answer)
	return w
}

// Stop ends polling and waits for the attempts in flight, which end with their answers or their
// connections. It takes answers until the end: a receiver that got its ring by a long poll has
// no other way to answer.
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

// pollers is a group of polling goroutines.
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
