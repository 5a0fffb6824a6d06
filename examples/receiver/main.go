// Command receiver is a small receiver of callbacks to try Wakecall with. It
// prints every call, verifies its signature with the official Standard
// Webhooks library when WEBHOOK_SECRET is set, and answers 200; on the path
// /flaky it fails the first two calls of each timer.
//
//	go run ./receiver          listens on 127.0.0.1:9000, or on $RECEIVER_ADDR
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type receiver struct {
	verifier *webhooks.Webhook // nil without a secret

	mu    sync.Mutex
	calls map[string]int // by webhook-id: what a real receiver deduplicates by
}

func main() {
	r := &receiver{calls: map[string]int{}}
	if secret := os.Getenv("WEBHOOK_SECRET"); secret != "" {
		verifier, err := webhooks.NewWebhook(secret)
		if err != nil {
			log.Fatal(err)
		}
		r.verifier = verifier
	}
	addr := os.Getenv("RECEIVER_ADDR")
	if addr == "" {
		addr = "127.0.0.1:9000"
	}
	server := &http.Server{Addr: addr, Handler: r, ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<20))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := req.Header.Get("webhook-id")
	r.calls[id]++
	status := http.StatusOK
	if req.URL.Path == "/flaky" && r.calls[id] <= 2 {
		status = http.StatusServiceUnavailable
	}
	fmt.Printf("%s  %s/%s  attempt %s  due %s  signature %s  → %d  %s\n", time.Now().UTC().Format("15:04:05.000"),
		req.Header.Get("Wakecall-Business-Type"), req.Header.Get("Wakecall-Business-Id"), req.Header.Get("Wakecall-Attempt"),
		req.Header.Get("Wakecall-Due-At"), r.verify(body, req.Header), status, body)
	w.WriteHeader(status)
}

func (r *receiver) verify(body []byte, header http.Header) string {
	if r.verifier == nil {
		return "unchecked"
	}
	if err := r.verifier.Verify(body, header); err != nil {
		return "WRONG: " + err.Error()
	}
	return "good"
}
