package programs

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// loss follows docs/backup.md on a deployment that is backed up, destroyed and restored:
// book, back up, go on, destroy, restore, ring.
type loss struct {
	process.API
	receiver     *receiver.Receiver
	kind, secret string
	// again is a timer that the backup contains and that rings after it. rung are those that rang before.
	again string
	rung  []string
}

func newLoss(t *testing.T, api process.API) *loss {
	l := &loss{API: api, receiver: receiver.New(t), kind: sample.Type(t), secret: sample.Secret()}
	l.Policy(l.kind, contract.JSON{"callback": contract.JSON{"url": l.receiver.URL}, "signing_secrets": []string{l.secret}})
	return l
}

func (l *loss) book(id, delay string) {
	l.Add(contract.JSON{"business_type": l.kind, "business_id": id, "delay": delay})
}

// before makes the changes that the backup contains, and the backup. A busy machine may take longer for it
// than the next timer waits: then it makes another one, of a timer that is due later.
func (l *loss) before(backup func()) {
	l.book("rung", "0s")
	l.Await(l.kind+"/rung", "delivered")
	l.book("cancelled", "1h")
	l.book("waiting", "1h")
	for delay := 20 * time.Second; ; delay *= 2 {
		l.again = "again-" + delay.String()
		// A PUT is never handed to a worker at its booking; the worker would take it down with it.
		l.Do("PUT", "/v1/timers/"+l.kind+"/"+l.again, contract.JSON{"delay": delay.String()}, http.StatusCreated)
		backup()
		if len(l.receiver.Calls(l.again)) == 0 {
			return
		}
		require.Less(l.T, delay, process.Patience, "the backup should be made before it rings")
		l.rung = append(l.rung, l.again)
	}
}

// after makes the changes that it lacks.
func (l *loss) after() {
	l.book("forgotten", "1h")
	l.Do("DELETE", "/v1/timers/"+l.kind+"/cancelled", nil, http.StatusOK)
	l.Do("POST", "/v1/timers/"+l.kind+"/"+l.again+"/fire?wait=30s", nil, http.StatusOK)
	l.Await(l.kind+"/"+l.again, "delivered")
}

// restored checks the result of both.
func (l *loss) restored() {
	l.T.Helper()
	calls := l.receiver.Await(l.T, l.again, 2)
	require.Equal(l.T, calls[0].Header.Get("webhook-id"), calls[1].Header.Get("webhook-id"), "a receiver can tell that it is the same")
	l.Await(l.kind+"/"+l.again, "delivered")
	require.Equal(l.T, "delivered", l.Get(l.kind+"/rung").Status)
	require.Equal(l.T, "scheduled", l.Get(l.kind+"/cancelled").Status, "the cancel is not known any more")
	status, _, err := l.Try("GET", "/v1/timers/"+l.kind+"/forgotten", nil)
	require.NoError(l.T, err)
	require.Equal(l.T, http.StatusNotFound, status)

	l.Do("POST", "/v1/timers/"+l.kind+"/waiting/fire", nil, http.StatusOK, http.StatusAccepted)
	call := l.receiver.Await(l.T, "waiting", 1)[0]
	verifier, err := webhooks.NewWebhook(l.secret)
	require.NoError(l.T, err)
	require.NoError(l.T, verifier.Verify(call.Body, call.Header), "the key that opens the signing secret is restored as well")
	require.Len(l.T, l.receiver.Calls("rung"), 1, "what was delivered before the backup does not ring again")
	listed := map[string]string{"rung": "delivered", l.again: "delivered", "waiting": "delivered", "cancelled": "scheduled"}
	for _, id := range l.rung {
		listed[id] = "delivered"
	}
	l.AwaitList(l.kind, listed)
}

func TestRestoredStandalone(t *testing.T) {
	t.Parallel()
	env := process.NewStandalone(t)
	running := env.Start()
	l := newLoss(t, env.API)
	copied := ""
	l.before(func() {
		copied = filepath.Join(t.TempDir(), "copy")
		backup := env.Run("backup", copied)
		require.Zero(t, backup.Wait(), "%s", backup.Stderr())
	})
	l.after()
	running.Kill()
	require.NoError(t, os.RemoveAll(env.Dir))
	require.NoError(t, os.Rename(copied, env.Dir))
	running = env.Start()
	l.restored()

	require.Zero(t, running.Stop())
	for _, store := range []string{"main", "visibility"} {
		log, err := os.Stat(filepath.Join(env.Dir, store+".db-wal"))
		require.NoError(t, err)
		require.Zero(t, log.Size(), "a clean stop folds the log of %s back", store)
	}
}

// The last part of [TestProduction].
func (p *production) isRestored(t *testing.T) {
	l := newLoss(t, p.API)
	backups := t.TempDir()
	l.before(func() { p.Backup(backups) })
	l.after()
	for _, role := range []*process.Process{p.api, p.worker, p.Temporal} {
		role.Kill()
	}
	p.Destroy()
	p.Restore(backups)
	p.Temporal = p.Start("temporal")[0]
	p.Revive("api")
	p.Revive("worker")
	l.restored()
}
