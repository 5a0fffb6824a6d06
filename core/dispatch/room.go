package dispatch

import "encoding/json"

// Room is what still goes on a stored page: so many items, and so many bytes.
type Room struct {
	Items, Bytes int
	// Head is what an item takes beside its payload and its failure at most.
	Head int
}

// Reserve reserves the place of an item, and reports whether there was one. A failure counts as
// it is stored: JSON writes some characters of what a receiver said as six.
func (r *Room) Reserve(item Item) bool {
	bytes := len(item.Payload) + r.Head
	if item.Failure != nil {
		failure, _ := json.Marshal(item.Failure) // it holds no channel, function or cycle
		bytes += len(failure)
	}
	if r.Items == 0 || r.Bytes < bytes {
		return false
	}
	r.Items, r.Bytes = r.Items-1, r.Bytes-bytes
	return true
}
