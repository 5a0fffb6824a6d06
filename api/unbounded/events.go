package unbounded

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/internal/tuning"
)

const mediaTypeEvents = "text/event-stream"

// Events is an answer of server-sent events (WHATWG HTML, section 9.2).
type Events struct{ Writer }

// OpenEvents begins the answer. A client that loses it comes back after a pause.
func OpenEvents(c echo.Context) (Events, error) {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, mediaTypeEvents)
	header.Set(echo.HeaderCacheControl, "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would keep the events back
	c.Response().WriteHeader(http.StatusOK)
	e := Events{NewWriter(c)}
	return e, e.write(fmt.Sprintf("retry: %d\n\n", tuning.EventPause.Milliseconds()))
}

// Send sends one event. It fails once the client is gone.
func (e Events) Send(kind string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return e.write(fmt.Sprintf("event: %s\ndata: %s\n\n", kind, text))
}

// SendComment sends an empty comment, by which a client sees that this process is alive. It fails
// once the client is gone.
func (e Events) SendComment() error { return e.write(":\n\n") }

// write sends a text at once.
func (e Events) write(text string) error {
	if _, err := io.WriteString(e, text); err != nil {
		return err
	}
	return e.control.Flush()
}
