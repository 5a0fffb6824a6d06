// Package identity says by whom, and for whom, a call to Temporal is made. Temporal stores the
// identity of a call in the event that records the change, so that who made a change is as
// durable as the change.
package identity
