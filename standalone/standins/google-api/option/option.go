// Package option stands in for the options of Google's clients.
package option

import "golang.org/x/oauth2"

const absent = "this server is built without Google's clients"

// ClientOption is an option of a client.
type ClientOption interface{}

func WithTokenSource(oauth2.TokenSource) ClientOption { panic(absent) }
