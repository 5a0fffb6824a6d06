package client

import (
	"net/http"
	"strings"
	"time"
)

// Options say how to reach Wakecall.
type Options struct {
	// URL is where the API is, without a path.
	URL string
	// Key is sent as a bearer token; "" for none.
	Key string
	// HTTP makes the calls; nil for one with a timeout of [DefaultTimeout], which
	// follows no redirects: a key must not follow to where Wakecall is not.
	HTTP *http.Client
	// Tries is how often a call is made at most, the first time included; 0 for
	// [DefaultTries], and 1 for never again.
	Tries int
}

const (
	// DefaultTimeout is above the longest answer, a wait of 30 seconds for an effect.
	DefaultTimeout = time.Minute
	// DefaultTries are spread over about three seconds.
	DefaultTries = 5
)

// Client calls one Wakecall. It is safe for concurrent use.
type Client struct {
	Timers   Timers
	Policies Policies
	// Deliveries acknowledge what was accepted.
	Deliveries Deliveries
	// Emergency pauses and resumes callbacks.
	Emergency Emergency
	// Streams connect receivers.
	Streams Streams
	// Dispatches call many items back.
	Dispatches Dispatches
	// Bulk does the same with all timers that a filter finds.
	Bulk Bulk
	// Access tells who calls, and which keys there are.
	Access Access
	// Server asks the process that answers about itself.
	Server Server
}

// New returns a client. Nothing is called before its first call.
func New(options Options) *Client {
	options.URL = strings.TrimSuffix(options.URL, "/")
	if options.Tries == 0 {
		options.Tries = DefaultTries
	}
	if options.HTTP == nil {
		options.HTTP = &http.Client{
			Timeout:       DefaultTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	caller := &caller{options}
	return &Client{
		Timers: Timers{caller}, Policies: Policies{caller}, Deliveries: Deliveries{caller}, Emergency: Emergency{caller}, Streams: Streams{caller},
		Dispatches: Dispatches{caller}, Bulk: Bulk{caller}, Access: Access{caller}, Server: Server{caller},
	}
}
