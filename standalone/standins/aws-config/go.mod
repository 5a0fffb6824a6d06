module github.com/aws/aws-sdk-go-v2/config

go 1.26.8
