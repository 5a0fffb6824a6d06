// Package identity encodes the caller and the author of a call to Temporal. Temporal stores the
// identity of a call in the event that records the change. So the author of a change is as
// durable as the change.
package identity
