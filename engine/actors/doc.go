// Package actors records the author of a change beside the change: in a header of the same
// event, or in the reason of a request for cancellation. It reads both again. [Interceptor]
// is part of the client's connection, and where a reader starts.
package actors
