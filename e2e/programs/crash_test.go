package programs

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the tests read the files themselves

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// What was answered 201 is there after the kill, whenever it comes: what waits, what rings soon,
// and what is being booked.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	victim := env.Start()
	signing := sample.Secret()
	env.Policy(kind, contract.JSON{"callback": contract.JSON{"url": r.URL}, "signing_secrets": []string{signing}})
	listed := map[string]string{"soon": "delivered"}
	for i := range 10 {
		id := fmt.Sprintf("later-%d", i)
		env.Add(contract.JSON{"business_type": kind, "business_id": id, "delay": "24h"})
		listed[id] = "scheduled"
	}
	soon := env.Add(contract.JSON{
		"business_type": kind, "business_id": "soon", "delay": "15s", "payload": contract.JSON{"order": "4711"},
	})
	crowd := kind + "-crowd"
	acknowledged := bookUntilKilled(t, env, victim, sample.Booking(crowd, "1", "24h", r.URL))
	env.Start()
	for _, id := range acknowledged {
		require.Equal(t, "scheduled", env.Get(crowd+"/"+id).Status)
		env.Do("POST", "/v1/timers/"+crowd+"/"+id+"/fire", nil, http.StatusOK)
	}
	for _, id := range acknowledged {
		env.Await(crowd+"/"+id, "delivered")
		require.Len(t, r.Calls(id), 1, "nothing was killed while it rang")
	}

	env.Await(kind+"/soon", "delivered")
	calls := r.Calls("soon")
	require.Len(t, calls, 1)
	require.Equal(t, soon.WebhookID, calls[0].Header.Get("webhook-id"))
	require.JSONEq(t, `{"order":"4711"}`, string(calls[0].Body))
	require.False(t, calls[0].At.Before(soon.DueAt), "it rang early")
	verifier, err := webhooks.NewWebhook(signing)
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(calls[0].Body, calls[0].Header), "the sealed secret is opened by the new process")
	env.AwaitList(kind, listed)
}

// bookUntilKilled books from several clients at once, kills the process among
// it, and returns the ids that were acknowledged.
func bookUntilKilled(t *testing.T, env *process.Standalone, victim *process.Process, template contract.JSON) (acknowledged []string) {
	const clients, enough = 8, 60
	ids := make(chan string)
	var booking sync.WaitGroup
	for client := range clients {
		booking.Go(func() {
			for n := 0; ; n++ {
				body := contract.JSON{}
				for name, value := range template {
					body[name] = value
				}
				id := fmt.Sprintf("%v-%d-%d", template["business_id"], client, n)
				body["business_id"] = id
				status, _, err := env.Try("POST", "/v1/timers", body)
				if err != nil {
					return // the process is gone
				}
				if status == http.StatusCreated {
					ids <- id
				}
			}
		})
	}
	go func() { booking.Wait(); close(ids) }()
	for id := range ids {
		if acknowledged = append(acknowledged, id); len(acknowledged) == enough {
			victim.Kill()
		}
	}
	require.GreaterOrEqual(t, len(acknowledged), enough)
	return acknowledged
}

// Whether it is the first attempt that is in flight at the kill, or a retry.
func TestKilledWhileAnAttemptIsInFlight(t *testing.T) {
	t.Parallel()
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	victim := env.Start()
	inFlight, booked := map[string]int{"first": 1, "retry": 2}, map[string]contract.Timer{}
	for id, attempt := range inFlight {
		body := sample.Booking(kind, id, "0s", r.On("/"+id, receiver.HangOnce(attempt)))
		body["retry"] = contract.JSON{"steps": []string{"10ms", "10ms", "10ms"}}
		booked[id] = env.Add(body)
	}
	for id, attempt := range inFlight {
		r.Await(t, id, attempt)
	}
	victim.Kill()
	env.Start()
	for id, attempt := range inFlight {
		env.Await(kind+"/"+id, "delivered")
		calls := r.Calls(id)
		require.Len(t, calls, attempt+1, "one attempt more than without the crash")
		for _, call := range calls {
			require.Equal(t, booked[id].WebhookID, call.Header.Get("webhook-id"))
			require.JSONEq(t, `{"n":1}`, string(call.Body))
		}
	}
}

// cleanStop is the longest that Ctrl-C may take.
const cleanStop = 30 * time.Second

// Ctrl-C ends a deployment at rest, and one whose attempt is in flight while a caller waits for
// an effect. What it leaves is whole, is its own, and is refused where it is not.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	first := env.Start()
	env.Add(sample.Booking(kind, "later", "24h", r.URL))
	env.Add(sample.Booking(kind, "rung", "0s", r.URL))
	env.Await(kind+"/rung", "delivered")
	interrupt(t, first)
	key := secretKey(t, env.Dir)
	t.Run("its databases keep a write-ahead log", func(t *testing.T) { keepALog(t, env.Dir) })

	second := env.Start()
	env.AwaitList(kind, map[string]string{"later": "scheduled", "rung": "delivered"})
	require.Len(t, r.Calls("rung"), 1)
	require.Equal(t, "", second.Stderr(), "nothing to complain of")
	booked := env.Add(sample.Booking(kind, "1", "0s", r.On("/", receiver.HangOnce(1))))
	env.Add(sample.Booking(kind, "changed", "0s", r.On("/changed", receiver.HangOnce(1))))
	r.Await(t, "1", 1)
	r.Await(t, "changed", 1)
	answered := awaitsAnEffect(env, kind+"/changed")
	interrupt(t, second)
	<-answered
	require.Equal(t, key, secretKey(t, env.Dir))
	t.Run("data of another build is refused", func(t *testing.T) { refusesAnotherBuild(t, env) })
	t.Run("a lost key is not replaced", func(t *testing.T) { refusesALostKey(t, env) })

	before := digest(t, env.Dir)
	env.Start()
	env.Await(kind+"/1", "delivered")
	for _, call := range r.Calls("1") {
		require.Equal(t, booked.WebhookID, call.Header.Get("webhook-id"))
	}
	env.AwaitList(kind, map[string]string{"later": "scheduled", "rung": "delivered", "1": "delivered", "changed": "delivered"})
	require.NotEqual(t, before, digest(t, env.Dir), "the digest sees that a deployment ran")
}

func interrupt(t *testing.T, p *process.Process) {
	t.Helper()
	began := time.Now()
	require.Zero(t, p.Interrupt())
	require.Less(t, time.Since(began), cleanStop)
}

// awaitsAnEffect has a caller wait for an effect, and returns once Temporal has the change. The
// caller must not hold up the end of the process.
func awaitsAnEffect(env *process.Standalone, path string) (answered <-chan struct{}) {
	env.T.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = env.Try("PATCH", "/v1/timers/"+path+"?wait=30s", contract.JSON{"payload": contract.JSON{"n": 2}})
	}()
	handed := func() bool {
		_, metrics, err := env.Try("GET", "/metrics", nil)
		return err == nil && strings.Contains(string(metrics), "SignalWithStartWorkflowExecution")
	}
	require.Eventually(env.T, handed, process.Patience, process.Interval, "the change should be handed to Temporal")
	return done
}

// Two deployments live side by side, each with its own data and addresses. Neither starts with
// those of the other one.
func TestTwoDeploymentsSideBySide(t *testing.T) {
	t.Parallel()
	r, kind := receiver.New(t), sample.Type(t)
	deployments := map[string]*process.Standalone{"a": process.NewStandalone(t), "b": process.NewStandalone(t)}
	for name, env := range deployments {
		env.Start()
		env.Add(sample.Booking(kind, name, "0s", r.URL))
	}
	owner := deployments["a"]
	for _, name := range []string{"WAKECALL_TEMPORAL_ADDR", "WAKECALL_UI_ADDR", "WAKECALL_HTTP_ADDR"} {
		intruder, taken := process.NewStandalone(t), owner.Addr(name)
		intruder.Env[name] = taken
		requireRefused(t, intruder, name+": listen tcp "+taken, "address already in use")
	}
	intruder := process.NewStandalone(t)
	intruder.Dir = owner.Dir
	requireRefused(t, intruder, owner.Dir, "in use by another process")
	for name, env := range deployments {
		env.Await(kind+"/"+name, "delivered")
		env.AwaitList(kind, map[string]string{name: "delivered"})
		require.Len(t, r.Calls(name), 1)
	}
}

// requireRefused runs a deployment that must say why it does not start, in one line.
func requireRefused(t *testing.T, env *process.Standalone, words ...string) {
	t.Helper()
	refused := env.Launch()
	require.Equal(t, 1, refused.Wait())
	lines := strings.Split(strings.TrimSuffix(refused.Stderr(), "\n"), "\n")
	require.Len(t, lines, 1, "%s", refused.Stderr())
	for _, word := range words {
		require.Contains(t, lines[0], word)
	}
	require.Empty(t, refused.Stdout(), "it must not announce itself")
}

func refusesAnotherBuild(t *testing.T, env *process.Standalone) {
	t.Run("another shard count", func(t *testing.T) {
		before := digest(t, env.Dir)
		env.Env = map[string]string{"WAKECALL_HISTORY_SHARDS": "8"}
		requireRefused(t, env, env.Dir, "4 history shards", "8", "WAKECALL_DATA_DIR")
		env.Env = nil
		require.Equal(t, before, digest(t, env.Dir), "data was touched")
	})
	file := filepath.Join(env.Dir, "engine.json")
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, birth := range map[string]string{
		"another schema":            edited(t, written, "schema", "0.0"),
		"another visibility schema": edited(t, written, "visibility_schema", "0.0"),
		"stored shard count":        edited(t, written, "history_shards", 16),
		"damaged":                   "{",
		"empty":                     "",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(birth), 0o600))
			before := digest(t, env.Dir)
			requireRefused(t, env, env.Dir)
			require.Equal(t, before, digest(t, env.Dir), "data was touched")
		})
	}
	t.Run("gone", func(t *testing.T) {
		require.NoError(t, os.Remove(file))
		before := digest(t, env.Dir)
		requireRefused(t, env, env.Dir, "engine.json")
		require.Equal(t, before, digest(t, env.Dir), "data was touched")
	})
	require.NoError(t, os.WriteFile(file, written, 0o600))
}

// edited is the birth file with one value changed.
func edited(t *testing.T, birth []byte, name string, value any) string {
	members := map[string]any{}
	require.NoError(t, json.Unmarshal(birth, &members))
	require.Contains(t, members, name)
	members[name] = value
	text, err := json.Marshal(members)
	require.NoError(t, err)
	return string(text)
}

// digest is one line for each file of a directory.
func digest(t *testing.T, dir string) (lines []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		lines = append(lines, fmt.Sprintf("%s %d %x", path, len(text), sha256.Sum256(text)))
		return err
	}))
	return lines
}

// secretKey is the key that a deployment has made for itself, and that others must not read.
func secretKey(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "secret.key")
	stat, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), stat.Mode().Perm())
	key, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(key)
}

// A lost or empty secret key must not be replaced in silence: what is sealed
// under it could never be opened again.
func refusesALostKey(t *testing.T, env *process.Standalone) {
	file, key := filepath.Join(env.Dir, "secret.key"), secretKey(t, env.Dir)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	requireRefused(t, env, "secret.key")
	require.NoError(t, os.WriteFile(file, []byte(key), 0o600))
}

// stored reads a pragma that is kept in the file itself.
func stored(t *testing.T, file, pragma string) (value string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.QueryRow("PRAGMA "+pragma).Scan(&value))
	return value
}

func keepALog(t *testing.T, dir string) {
	for _, name := range []string{"main.db", "visibility.db"} {
		require.Equal(t, "wal", stored(t, filepath.Join(dir, name), "journal_mode"), name)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", "file:"+other+"?_journal_mode=wal")
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE t (n INTEGER)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.Equal(t, "delete", stored(t, other, "journal_mode"), "an underscore too much is seen")
}
