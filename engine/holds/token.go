package holds

import "google.golang.org/protobuf/encoding/protowire"

// The fields of the server's token of a task, temporal.server.api.token.v1.Task. They are
// the same in servers 1.18 to 1.32; it is not signed.
const (
	tokenNamespaceID protowire.Number = 1 + iota
	tokenWorkflowID
	tokenRunID
	tokenScheduledEvent
	tokenAttempt

	tokenVersion protowire.Number = 11
)

// token is the token by which the worker would name its task. The server does not check the
// fields that are left out, such as the start time.
func (h Task) token(namespaceID string) (token []byte) {
	text := func(field protowire.Number, s string) {
		token = protowire.AppendString(protowire.AppendTag(token, field, protowire.BytesType), s)
	}
	number := func(field protowire.Number, n int64) {
		token = protowire.AppendVarint(protowire.AppendTag(token, field, protowire.VarintType), uint64(n))
	}
	text(tokenNamespaceID, namespaceID)
	text(tokenWorkflowID, h.workflowID)
	text(tokenRunID, h.runID)
	number(tokenScheduledEvent, h.scheduled)
	number(tokenAttempt, h.attempt)
	number(tokenVersion, h.version)
	return token
}
