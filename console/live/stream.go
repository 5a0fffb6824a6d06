package live

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// eventOver is the last event of a stream that the client must not open again. eventBeat shows that
// the stream is alive.
const (
	eventOver = "over"
	eventBeat = "beat"
)

// Serve sends the renderings of topics as server-sent events (WHATWG HTML, section 9.2). It ends when
// the client hangs up, when this process stops, or when stays returns false, which it calls before
// each event. It answers 503 if [tuning.LiveStreams] are open.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, stays func() bool, topics ...Topic) {
	if !h.admit() {
		w.Header().Set("Retry-After", strconv.Itoa(int(tuning.StreamRetryAfter.Seconds())))
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer h.release()
	out := open(w)
	if r.Method == http.MethodHead {
		return
	}
	s := stream{hub: h, out: out, watcher: newWatcher(), seen: seenBefore(r, len(topics))}
	for _, one := range topics {
		watched, leave := h.watch(s.watcher, one)
		defer leave()
		s.topics = append(s.topics, watched)
	}
	beats, stop := h.ticks(tuning.LiveBeat)
	defer stop()
	for {
		send := s.news
		select {
		case <-r.Context().Done():
			return
		case <-h.stopping.Done():
			return
		case <-s.wake:
		case <-beats:
			send = s.ping
		}
		if !stays() || send() != nil {
			return
		}
	}
}

// End sends one last event. The client does not open the stream again.
func End(w http.ResponseWriter, last []byte) {
	out := open(w)
	_ = out.event("", "", last) // a client that has hung up needs it no more
	_ = out.event(eventOver, "", nil)
}

// stream is one open page.
type stream struct {
	*watcher
	hub    *Hub
	out    writer
	topics []*topic
	// seen are the hashes of the renderings on the page, by topic.
	seen []string
}

// seenBefore returns the hashes that a returning client names in Last-Event-ID.
func seenBefore(r *http.Request, topics int) []string {
	seen := strings.Split(r.Header.Get("Last-Event-ID"), ".")
	if len(seen) != topics {
		return make([]string, topics)
	}
	return seen
}

// news sends the renderings that differ from those on the page.
func (s *stream) news() error {
	var text bytes.Buffer
	for i, one := range s.topics {
		if shown, hash := s.hub.shown(one); hash != "" && hash != s.seen[i] {
			s.seen[i] = hash
			text.Write(shown)
		}
	}
	if text.Len() == 0 {
		return nil
	}
	return s.out.event("", strings.Join(s.seen, "."), text.Bytes())
}

func (s *stream) ping() error { return s.out.event(eventBeat, "", nil) }

// writer sends events. Each has the write deadline of a whole answer.
type writer struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

func open(w http.ResponseWriter) writer {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // nginx would keep the events back
	out := writer{w, http.NewResponseController(w)}
	_ = out.send(fmt.Appendf(nil, "retry: %d\n\n", tuning.LiveRetry.Milliseconds())) // the next write fails if the client is gone
	return out
}

// lineEnds writes the ends of lines as one. A CR alone ends a line of an event as well: what a receiver has
// answered would be a field of it, or its end.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// event sends one event; a kind or an id of "" stands for none.
func (w writer) event(kind, id string, data []byte) error {
	var text bytes.Buffer
	if kind != "" {
		fmt.Fprintf(&text, "event: %s\n", kind)
	}
	if id != "" {
		fmt.Fprintf(&text, "id: %s\n", id)
	}
	for line := range strings.Lines(lineEnds.Replace(string(data))) {
		fmt.Fprintf(&text, "data: %s\n", strings.TrimRight(line, "\n"))
	}
	if len(data) == 0 {
		text.WriteString("data:\n")
	}
	text.WriteByte('\n')
	return w.send(text.Bytes())
}

func (w writer) send(text []byte) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(tuning.WriteSlack)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := w.to.Write(text); err != nil {
		return err
	}
	return w.control.Flush()
}
