module github.com/wakecall/wakecall/examples

go 1.26.8

require (
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
	github.com/wakecall/wakecall v0.0.0
)

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/netresearch/go-cron v0.9.1 // indirect
)

replace github.com/wakecall/wakecall => ../
