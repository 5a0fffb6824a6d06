package client

import (
	"net/http"
	"strings"
	"time"
)

// Options configure a [Client].
type Options struct {
	// URL is the address of the API, without a path.
	URL string
	// Key is sent as a bearer token; "" for none.
	Key string
	// HTTP makes the calls. The default has a timeout of [DefaultTimeout] and follows no
	// redirects: a key must not follow to another server.
	HTTP *http.Client
	// Tries is the largest number of tries of a call; 0 for [DefaultTries], and 1 for no retry.
	Tries int
}

const (
	// DefaultTimeout exceeds the longest answer, a wait of 30 seconds for an effect.
	DefaultTimeout = time.Minute
	// DefaultTries take about three seconds.
	DefaultTries = 5
)

// Client calls one Wakecall. It is safe for concurrent use.
type Client struct {
	Timers   Timers
	Policies Policies
	// Deliveries acknowledges accepted deliveries.
	Deliveries Deliveries
	// Emergency pauses and resumes callbacks.
	Emergency Emergency
	// Streams connects receivers.
	Streams Streams
	// Dispatches manages dispatches.
	Dispatches Dispatches
	// Bulk applies one operation to all timers that match a filter.
	Bulk Bulk
	// Access shows the caller and the API keys.
	Access Access
	// Server queries the answering process.
	Server Server
}

// New returns a client. It makes no call.
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
		Timers: Timers{caller}, Policies: Policies{caller}, Deliveries: Deliveries{caller}, Emergency: Emergency{caller},
		Streams:    Streams{caller},
		Dispatches: Dispatches{caller}, Bulk: Bulk{caller}, Access: Access{caller}, Server: Server{caller},
	}
}
