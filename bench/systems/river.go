package systems

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/e2e/process"
)

// riverQueue is River, a job queue in PostgreSQL, set up as in its guide to scheduled jobs.
// Its polling interval for scheduled jobs, five seconds, cannot be changed.
type riverQueue struct {
	stage    *stage.Stage
	postgres *process.Postgres
	pool     *pgxpool.Pool
	client   *river.Client[pgx.Tx]
}

// riverJob is a timer.
type riverJob struct {
	ID string `json:"id"`
}

// Kind is the name of the job.
func (riverJob) Kind() string { return "ring" }

type riverWorker struct {
	river.WorkerDefaults[riverJob]
	caller *caller
}

// Work makes the callback.
func (w *riverWorker) Work(ctx context.Context, job *river.Job[riverJob]) error {
	return w.caller.call(ctx, job.Args.ID, job.ScheduledAt)
}

// Start starts PostgreSQL, River's tables, and a client that works.
func (r *riverQueue) Start(s *stage.Stage, receiver string) (err error) {
	r.stage = s
	if err := s.Do(func() { r.postgres = process.NewPostgres(s, superuser, superuser, durable, connections) }); err != nil {
		return err
	}
	if r.pool, err = pgxpool.New(s.Context(), pooled(r.postgres)); err != nil {
		return err
	}
	driver := riverpgxv5.New(r.pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err = migrator.Migrate(s.Context(), rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{caller: newCaller(receiver)})
	r.client, err = river.NewClient(driver, &river.Config{
		Logger: quiet, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: jobs}},
	})
	if err != nil {
		return err
	}
	return r.client.Start(s.Context())
}

func at(timer Timer) *river.InsertOpts { return &river.InsertOpts{ScheduledAt: timer.Due} }

// Add inserts a job.
func (r *riverQueue) Add(ctx context.Context, timer Timer) error {
	_, err := r.client.Insert(ctx, riverJob{ID: timer.ID}, at(timer))
	return err
}

// AddBatch inserts jobs with COPY.
func (r *riverQueue) AddBatch(ctx context.Context, timers []Timer) (int, error) {
	rows := make([]river.InsertManyParams, len(timers))
	for i, timer := range timers {
		rows[i] = river.InsertManyParams{Args: riverJob{ID: timer.ID}, InsertOpts: at(timer)}
	}
	return r.client.InsertManyFast(ctx, rows)
}

// Kill ends PostgreSQL. The client in this process lives on, and finds its jobs again.
func (r *riverQueue) Kill() error { return r.stage.Do(r.postgres.Kill) }

// Revive starts PostgreSQL again.
func (r *riverQueue) Revive() error { return r.stage.Do(r.postgres.Start) }

// Counters are PostgreSQL's.
func (r *riverQueue) Counters(ctx context.Context) (Counters, error) {
	return postgresCounters(ctx, r.postgres.URL(database))
}

// Close stops working.
func (r *riverQueue) Close() error {
	if r.pool == nil {
		return nil
	}
	defer r.pool.Close()
	if r.client == nil {
		return nil
	}
	return r.client.StopAndCancel(context.Background())
}
