package dispatch

import "encoding/json"

// Room is the free space on a stored page, in items and bytes.
type Room struct {
	Items, Bytes int
	// Head is the largest size of an item without its payload and its failure.
	Head int
}

// Reserve reserves the place of an item, and reports whether there was one. A failure counts in
// its stored form, because JSON may write a character of a receiver's text as six.
func (r *Room) Reserve(item Item) bool {
	bytes := len(item.Payload) + r.Head
	if item.Failure != nil {
		failure, _ := json.Marshal(item.Failure) // holds no channel, function or cycle
		bytes += len(failure)
	}
	if r.Items == 0 || r.Bytes < bytes {
		return false
	}
	r.Items, r.Bytes = r.Items-1, r.Bytes-bytes
	return true
}
