module github.com/temporalio/ringpop-go

go 1.26.8
