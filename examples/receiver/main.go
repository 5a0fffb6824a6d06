// Command receiver is a small receiver of callbacks to try Wakecall with. It prints every
// call and answers 200. If WEBHOOK_SECRET is set, it verifies the signature with the
// official Standard Webhooks library, and answers 401 to a wrong one. On the path /flaky it
// fails the first two calls of each timer.
//
//	go run ./receiver          listens on 127.0.0.1:9000, or on $RECEIVER_ADDR
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type receiver struct {
	verifier *webhooks.Webhook // nil without a secret

	mu    sync.Mutex
	calls map[string]int // by webhook-id, by which a real receiver deduplicates
}

const usage = `receiver prints the callbacks that it is called with.

  receiver           listen on 127.0.0.1:9000, or on $RECEIVER_ADDR, and verify
                     signatures with $WEBHOOK_SECRET, if there is one
  receiver version   print the version
`

func main() {
	if len(os.Args) > 1 {
		os.Exit(answerCommand(os.Args[1]))
	}
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

// answerCommand answers a question and returns the exit code.
func answerCommand(question string) int {
	switch question {
	case "-h", "-help", "--help", "help":
		fmt.Print(usage)
	case "version", "--version":
		fmt.Println(version())
	default:
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	return 0
}

// version is the version of the module, or of the commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return info.Main.Version
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<20))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	status, signature := r.judge(req, body)
	fmt.Printf("%s  %s  signature %s  → %d  %s\n", time.Now().UTC().Format("15:04:05.000"), subject(req, body), signature, status, body)
	if status == http.StatusUnauthorized {
		http.Error(w, "the signature is wrong", status)
		return
	}
	w.WriteHeader(status)
}

// subject is what a call is about: an attempt of a timer, or an event, which is of no timer.
func subject(req *http.Request, body []byte) string {
	businessType, id := req.Header.Get("Wakecall-Business-Type"), req.Header.Get("Wakecall-Business-Id")
	if id != "" {
		return fmt.Sprintf("%s/%s  attempt %s  due %s", businessType, id, req.Header.Get("Wakecall-Attempt"), req.Header.Get("Wakecall-Due-At"))
	}
	var event struct {
		Type string `json:"type"`
		Data struct {
			BusinessType string `json:"business_type"`
		} `json:"data"`
	}
	_ = json.Unmarshal(body, &event) // what is no event is shown as it is
	if event.Type == "wakecall.test" {
		return "a test of " + event.Data.BusinessType + ", which is no timer"
	}
	return "event " + event.Type
}

// judge is the answer to a call, and the result of its signature. An unsigned or wrongly
// signed call does not count.
func (r *receiver) judge(req *http.Request, body []byte) (status int, signature string) {
	signature = "unchecked"
	if r.verifier != nil {
		if err := r.verifier.Verify(body, req.Header); err != nil {
			return http.StatusUnauthorized, "WRONG: " + err.Error()
		}
		signature = "good"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := req.Header.Get("webhook-id")
	r.calls[id]++
	if req.URL.Path == "/flaky" && r.calls[id] <= 2 {
		return http.StatusServiceUnavailable, signature
	}
	return http.StatusOK, signature
}
