// Package s3 stands in for Amazon's object store, which Temporal archives in.
package s3

import (
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const absent = "this server is built without archives in S3"

// The types that Temporal names.
type (
	Client  struct{}
	Options struct {
		BaseEndpoint *string
		UsePathStyle bool
	}
	HeadBucketInput  struct{ Bucket *string }
	HeadBucketOutput struct{}
	HeadObjectInput  struct{ Bucket, Key *string }
	HeadObjectOutput struct{}
	GetObjectInput   struct{ Bucket, Key *string }
	GetObjectOutput  struct{ Body io.ReadCloser }
	PutObjectInput   struct {
		Bucket, Key *string
		Body        io.Reader
	}
	PutObjectOutput    struct{}
	ListObjectsV2Input struct {
		Bucket, Prefix, Delimiter, ContinuationToken *string
		MaxKeys                                      *int32
	}
	ListObjectsV2Output struct {
		IsTruncated           *bool
		NextContinuationToken *string
		Contents              []types.Object
		CommonPrefixes        []types.CommonPrefix
	}
)

func NewFromConfig(aws.Config, ...func(*Options)) *Client { panic(absent) }

func (*Client) HeadBucket(context.Context, *HeadBucketInput, ...func(*Options)) (*HeadBucketOutput, error) {
	panic(absent)
}

func (*Client) HeadObject(context.Context, *HeadObjectInput, ...func(*Options)) (*HeadObjectOutput, error) {
	panic(absent)
}

func (*Client) GetObject(context.Context, *GetObjectInput, ...func(*Options)) (*GetObjectOutput, error) {
	panic(absent)
}

func (*Client) PutObject(context.Context, *PutObjectInput, ...func(*Options)) (*PutObjectOutput, error) {
	panic(absent)
}

func (*Client) ListObjectsV2(context.Context, *ListObjectsV2Input, ...func(*Options)) (*ListObjectsV2Output, error) {
	panic(absent)
}
