module github.com/temporalio/tchannel-go

go 1.26.8
