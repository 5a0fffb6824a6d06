// Package types has the types of Amazon's object store that Temporal's server names.
package types

const absent = "this server is built without archives in S3"

// The types that Temporal names.
type (
	Object       struct{ Key *string }
	CommonPrefix struct{ Prefix *string }
	NoSuchBucket struct{}
	NoSuchKey    struct{}
)

func (*NoSuchBucket) Error() string { panic(absent) }
func (*NoSuchKey) Error() string    { panic(absent) }
