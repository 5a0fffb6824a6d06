package systems

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// peer is a system with libraries of its own, in the process of bench/peers. It is booked over
// HTTP.
type peer struct {
	name    string
	store   peerStore
	stage   *stage.Stage
	command process.Command
	process *process.Process
	url     string
	client  *http.Client
}

// peerStore is the store of a peer.
type peerStore interface {
	// start starts the store, and returns what the peer's environment says of it.
	start(s *stage.Stage) (map[string]string, error)
	kill(s *stage.Stage) error
	revive(s *stage.Stage) error
	counters(ctx context.Context) (Counters, error)
}

// bookTime is how long a booking may take.
const bookTime = time.Minute

// Start starts the store and the peer.
func (p *peer) Start(s *stage.Stage, receiver string) error {
	addr := loopback.Addr()
	p.url = "http://" + addr
	p.client = &http.Client{Timeout: bookTime, Transport: &http.Transport{MaxIdleConns: 2 * jobs, MaxIdleConnsPerHost: 2 * jobs}}
	env := map[string]string{"PEER_ADDR": addr, "PEER_RECEIVER": receiver}
	stored, err := p.store.start(s)
	if err != nil {
		return err
	}
	maps.Copy(env, stored)
	p.stage, p.command = s, process.Command{Args: []string{p.name}, Env: env, Ready: p.url + "/ready"}
	return p.run()
}

func (p *peer) run() error {
	return p.stage.Do(func() {
		p.command.Path = process.Peers(p.stage)
		p.process = process.Start(p.stage, p.command)
	})
}

// Kill ends the peer, then its store.
func (p *peer) Kill() error { return errors.Join(p.stage.Do(p.process.Kill), p.store.kill(p.stage)) }

// Revive starts both again.
func (p *peer) Revive() error {
	if err := p.store.revive(p.stage); err != nil {
		return err
	}
	return p.run()
}

// Add books a batch of one.
func (p *peer) Add(ctx context.Context, timer Timer) error {
	_, err := p.AddBatch(ctx, []Timer{timer})
	return err
}

// AddBatch sends timers in one request. What the peer does with them is in bench/peers.
func (p *peer) AddBatch(ctx context.Context, timers []Timer) (int, error) {
	body, err := json.Marshal(timers)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/timers", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the peer answered %s", response.Status)
	}
	var answer struct {
		Booked int
		Error  string
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return 0, err
	}
	if answer.Error != "" {
		return answer.Booked, errors.New(answer.Error)
	}
	return answer.Booked, nil
}

// Counters are those of the peer's store.
func (p *peer) Counters(ctx context.Context) (Counters, error) { return p.store.counters(ctx) }

// Close disconnects; the peer ends with the stage.
func (p *peer) Close() error {
	if p.client != nil {
		p.client.CloseIdleConnections()
	}
	return nil
}

// peerDir is a directory that the peer itself writes.
type peerDir struct{ dir string }

func (d *peerDir) start(s *stage.Stage) (map[string]string, error) {
	err := s.Do(func() { d.dir = s.TempDir() })
	return map[string]string{"PEER_DIR": d.dir}, err
}

// A directory ends with the peer.
func (*peerDir) kill(*stage.Stage) error   { return nil }
func (*peerDir) revive(*stage.Stage) error { return nil }

func (d *peerDir) counters(context.Context) (Counters, error) { return dirCounters(d.dir) }

// peerPostgres is a PostgreSQL that syncs its commits, with as many connections as River's.
type peerPostgres struct{ server *process.Postgres }

func (p *peerPostgres) start(s *stage.Stage) (map[string]string, error) {
	err := s.Do(func() { p.server = process.NewPostgres(s, superuser, superuser, durable, connections) })
	if err != nil {
		return nil, err
	}
	return map[string]string{"PEER_DATABASE": pooled(p.server)}, nil
}

func (p *peerPostgres) kill(s *stage.Stage) error { return s.Do(p.server.Kill) }

func (p *peerPostgres) revive(s *stage.Stage) error { return s.Do(p.server.Start) }

func (p *peerPostgres) counters(ctx context.Context) (Counters, error) {
	return postgresCounters(ctx, p.server.URL(database))
}
