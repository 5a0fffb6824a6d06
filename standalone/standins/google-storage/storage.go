// Package storage stands in for Google's client, used by Temporal for archives.
package storage

import (
	"context"

	"google.golang.org/api/option"
)

const absent = "this server is built without archives in Google Cloud Storage"

// ScopeFullControl is the scope that Temporal requests.
const ScopeFullControl = "https://www.googleapis.com/auth/devstorage.full_control"

// The types used by Temporal.
type (
	Client         struct{}
	BucketHandle   struct{}
	ObjectHandle   struct{}
	ObjectIterator struct{}
	Reader         struct{}
	Writer         struct{}
	BucketAttrs    struct{}
	ObjectAttrs    struct{ Name string }
	Query          struct{ Prefix string }
)

func NewClient(context.Context, ...option.ClientOption) (*Client, error) { panic(absent) }
func (*Client) Bucket(string) *BucketHandle                              { panic(absent) }
func (*BucketHandle) Attrs(context.Context) (*BucketAttrs, error)        { panic(absent) }
func (*BucketHandle) Object(string) *ObjectHandle                        { panic(absent) }
func (*BucketHandle) Objects(context.Context, *Query) *ObjectIterator    { panic(absent) }
func (*ObjectHandle) Attrs(context.Context) (*ObjectAttrs, error)        { panic(absent) }
func (*ObjectHandle) NewReader(context.Context) (*Reader, error)         { panic(absent) }
func (*ObjectHandle) NewWriter(context.Context) *Writer                  { panic(absent) }
func (*ObjectIterator) Next() (*ObjectAttrs, error)                      { panic(absent) }
func (*Reader) Read([]byte) (int, error)                                 { panic(absent) }
func (*Reader) Close() error                                             { panic(absent) }
func (*Writer) Write([]byte) (int, error)                                { panic(absent) }
func (*Writer) Close() error                                             { panic(absent) }
func (*Writer) CloseWithError(error) error                               { panic(absent) }
