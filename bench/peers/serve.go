package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"
)

// timer is a timer to book, as the benchmark sends it.
type timer struct {
	ID  string
	Due time.Time
}

// booked is the answer to a booking.
type booked struct {
	Booked int
	Error  string `json:",omitempty"`
}

const closeTime = time.Second

// serve takes bookings until ctx ends.
func serve(ctx context.Context, addr string, p peer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler(p), ReadHeaderTimeout: time.Minute}
	stopped := context.AfterFunc(ctx, func() {
		closing, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_ = server.Shutdown(closing) // the process ends anyway
	})
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func handler(p peer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /timers", func(w http.ResponseWriter, r *http.Request) {
		var timers []timer
		if err := json.NewDecoder(r.Body).Decode(&timers); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var answer booked
		var err error
		if answer.Booked, err = p.add(r.Context(), timers); err != nil {
			answer.Error = err.Error()
		}
		_ = json.NewEncoder(w).Encode(answer) // the caller may be gone
	})
	return mux
}
