// Command peers runs a system that the benchmark compares with Wakecall, as a process of its own:
//
//	peers dbos          durable workflows in PostgreSQL
//	peers nats          JetStream's message scheduler, which syncs its files every two minutes
//	peers nats-always   the same, which syncs each message before it answers
//
// The benchmark books over HTTP and may kill the process. The settings are environment variables;
// see [settings]. The command is a module of its own, because the benchmark must measure Wakecall
// with the libraries of its own release. A reader starts with [peer].
package main
