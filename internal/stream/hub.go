package stream

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
)

// The reasons why a receiver cannot connect.
var (
	ErrLeaving = errors.New("the hub is closed")
	ErrFull    = errors.New("the limit of connected receivers is reached")
)

// Places gets the number of rings that the receivers of a business type take at once, after each
// change; 0 if none is connected. It must not block, nor call the hub.
type Places func(businessType string, places int)

// Bounds limit the receivers of a hub.
type Bounds struct{ Connections, PerType int }

// Hub manages the receivers connected to this process, and distributes the rings of a business
// type among them. It is safe for concurrent use.
type Hub struct {
	bounds Bounds
	places Places

	mu    sync.Mutex
	types map[string]*group
	// named are all connections.
	named    map[string]*Connection
	draining bool
	turns    uint64 // counts rings
}

// group holds the receivers of one business type.
type group struct {
	connections map[*Connection]struct{}
	places      int // the last reported number
}

// NewHub returns a hub without receivers.
func NewHub(bounds Bounds, places Places) *Hub {
	return &Hub{bounds: bounds, places: places, types: map[string]*group{}, named: map[string]*Connection{}}
}

// Join connects a receiver of a business type that takes window rings at once, at least one. It
// must be retired or closed. Its errors are [ErrLeaving] and [ErrFull].
func (h *Hub) Join(businessType string, window int) (*Connection, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.types[businessType]
	switch {
	case h.draining:
		return nil, ErrLeaving
	case len(h.named) >= h.bounds.Connections, g != nil && len(g.connections) >= h.bounds.PerType:
		return nil, ErrFull
	case g == nil:
		g = &group{connections: map[*Connection]struct{}{}}
		h.types[businessType] = g
	}
	c := &Connection{
		hub: h, businessType: businessType, name: rand.Text(), window: window, under: map[uint64]*flight{},
		leave: make(chan struct{}), ended: make(chan struct{}), more: make(chan struct{}, 1),
	}
	g.connections[c], h.named[c.name] = struct{}{}, c
	h.reportPlaces(businessType)
	return c, nil
}

// Find returns the connection of a business type by name, nil if there is none.
func (h *Hub) Find(businessType, name string) *Connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.named[name]; c != nil && c.businessType == businessType {
		return c
	}
	return nil
}

// Answer is [Connection.Answer] for a connection by name.
func (h *Hub) Answer(businessType, name string, number uint64, answer delivery.Answer) error {
	c := h.Find(businessType, name)
	if c == nil {
		return ErrOver
	}
	return c.Answer(number, answer)
}

// Connections counts the receivers by business type.
func (h *Hub) Connections() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := make(map[string]int, len(h.types))
	for businessType, g := range h.types {
		counts[businessType] = len(g.connections)
	}
	return counts
}

// Drain stops all connections from taking rings, and new receivers from connecting. Rings that
// were not taken go back at once.
func (h *Hub) Drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draining = true
	for _, c := range h.named {
		c.retire()
	}
}

// Close drains the hub, and closes the remaining connections. An answered long poll remains until each
// of its rings is answered.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draining = true
	for _, c := range h.named {
		c.close()
	}
}

// Outcome is the outcome of a ring.
type Outcome struct {
	delivery.Answer
	// Taken is when the connection took it for sending, zero for never.
	Taken time.Time
}

// Ring gives a ring to the receiver of a business type with the most room, and waits for its
// answer, at most until ctx ends.
func (h *Hub) Ring(ctx context.Context, businessType string, ring Ring) Outcome {
	if ctx.Err() != nil {
		return Outcome{Answer: delivery.Answer{Class: delivery.Timeout, NoVerdict: true}}
	}
	f := h.give(businessType, ring)
	if f == nil {
		return Outcome{Answer: delivery.Answer{Class: delivery.ConnectFailure, Detail: "no receiver is connected that has room", NoVerdict: true}}
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		h.mu.Lock()
		f.connection.withdraw(f, ctx.Err())
		h.mu.Unlock()
	}
	return f.outcome
}

func (h *Hub) give(businessType string, ring Ring) *flight {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.types[businessType]
	if g == nil {
		return nil
	}
	var best *Connection
	for c := range g.connections {
		if c.room() > 0 && (best == nil || c.before(best)) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	h.turns++
	best.turn = h.turns
	return best.enqueue(ring)
}

// remove forgets a connection. The caller holds mu.
func (h *Hub) remove(c *Connection) {
	delete(h.named, c.name)
	delete(h.types[c.businessType].connections, c)
}

// reportPlaces reports the number of places of a type, if it has changed. The caller holds mu.
func (h *Hub) reportPlaces(businessType string) {
	g, places := h.types[businessType], 0
	for c := range g.connections {
		places += c.places()
	}
	if places != g.places {
		g.places = places
		h.places(businessType, places)
	}
	if len(g.connections) == 0 {
		delete(h.types, businessType)
	}
}
