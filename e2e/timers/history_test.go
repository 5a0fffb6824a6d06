package timers

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/auth"
)

// keyEntry is the entry of a key, whose text is its name.
func keyEntry(t *testing.T, name, rest string) auth.Key {
	t.Helper()
	digest := sha256.Sum256([]byte(name))
	key, err := auth.ParseKey(name + ":" + hex.EncodeToString(digest[:]) + rest)
	require.NoError(t, err)
	return key
}

// guarded is an environment whose callers have keys: ops may do everything, shop operates a
// type and guest sees it without payloads.
type guarded struct{ *testenv.Env }

func openGuarded(t *testing.T, kind string) guarded {
	t.Helper()
	settings := testenv.Settings()
	settings.APIKeys = []auth.Key{keyEntry(t, "ops", ""), keyEntry(t, "shop", ":operator:"+kind), keyEntry(t, "guest", ":viewer:"+kind)}
	return guarded{testenv.OpenWith(t, testenv.Addr, settings)}
}

// as makes a call with a key.
func (g guarded) as(key, call, path string, body any) testenv.Reply {
	request := g.Request(call, path, body)
	request.Header.Set("Authorization", "Bearer "+key)
	return g.Send(request)
}

// story is what the history of a timer tells the guest.
func (g guarded) story(t *testing.T, path string) (entries []timer.HistoryEntry) {
	t.Helper()
	var page struct{ Entries []timer.HistoryEntry }
	reply := g.as("guest", "GET", path+"/history?page_size=100", nil)
	require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
	reply.Into(&page)
	return page.Entries
}

// told is a story in short: what happened, and who did it.
func told(entries []timer.HistoryEntry) (lines []string) {
	for _, entry := range entries {
		line := string(entry.Event)
		switch {
		case entry.Who != nil && entry.Who.Job != "":
			line += " by " + entry.Who.Name + " through a job"
		case entry.Who != nil:
			line += " by " + entry.Who.Name
		case entry.WhoUnknown:
			line += " by nobody knows"
		}
		lines = append(lines, line)
	}
	return lines
}

// The whole story of a timer is told in order, with who did what.
func TestTheHistoryOfATimer(t *testing.T) {
	t.Parallel()
	_, r, kind := testenv.Start(t)
	env := openGuarded(t, kind)
	url := r.On("/1", func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("secret answer"))
	})
	policy := testenv.JSON{"callback": testenv.JSON{"url": url}, "retry": testenv.JSON{"steps": []string{"1ms"}}}
	require.Equal(t, http.StatusCreated, env.as("ops", "PUT", "/v1/policies/"+kind, policy).Status)
	path := "/v1/timers/" + kind + "/1"
	booked := env.as("shop", "POST", "/v1/timers", testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1h", "payload": "secret"})
	require.Equal(t, http.StatusCreated, booked.Status)
	require.Equal(t, []string{"booked by shop"}, told(env.story(t, path)))
	require.Equal(t, http.StatusOK, env.as("shop", "PATCH", path+"?wait=30s", testenv.JSON{"delay": "2h", "payload": "other secret"}).Status)
	require.Equal(t, http.StatusOK, env.as("ops", "POST", path+"/fire?wait=30s", nil).Status)
	await(t, env, path, "failed")
	require.Equal(t, http.StatusOK, env.as("shop", "POST", path+"/redeliver", nil).Status)
	await(t, env, path, "failed")

	entries := env.story(t, path)
	require.Equal(t, []string{
		"booked by shop", "changed by shop", "fired by ops", "handed_out", "attempt", "attempt", "failed",
		"redelivered by shop", "handed_out", "attempt", "attempt", "failed",
	}, told(entries), "no need to wait for visibility")
	at := wire.Instant(0)
	for _, entry := range entries {
		require.LessOrEqual(t, at, entry.At)
		at = entry.At
	}
	changed := entries[1]
	require.Equal(t, &wire.Actor{Name: "shop", Role: "operator", By: "key", From: "127.0.0.1", RequestID: changed.Who.RequestID}, changed.Who)
	require.NotEmpty(t, changed.Who.RequestID)
	require.Equal(t, timer.HistoryApplied, changed.Result)
	require.Equal(t, []int{1, 2}, []int{changed.RevisionBefore, changed.Revision})
	require.Equal(t, []timer.FieldChange{{Field: "delay", To: "2h"}, {Field: "payload"}}, changed.Changes)
	require.Equal(t, []int{2, 3}, []int{entries[2].RevisionBefore, entries[2].Revision})
	require.NotEmpty(t, entries[3].Identity, "the worker that has it")
	require.Equal(t, 503, entries[4].Attempt.Status)
	require.Equal(t, 2, entries[5].Attempt.Number)

	for key, sees := range map[string]bool{"guest": false, "shop": true} {
		whole := string(env.as(key, "GET", path+"/history", nil).Body)
		require.NotContains(t, whole, "other secret")
		require.Equal(t, sees, strings.Contains(whole, "secret answer"), key)
	}
	require.Equal(t, http.StatusNotFound, env.as("ops", "GET", "/v1/timers/"+kind+"/none/history", nil).Status)
	require.Equal(t, "page_size", env.as("ops", "GET", path+"/history?page_size=0", nil).Problem().Errors[0].Pointer)
	require.Equal(t, "page_token", env.as("ops", "GET", path+"/history?page_token=x", nil).Problem().Errors[0].Pointer)

	var all []timer.HistoryEntry
	for token := ""; ; {
		var page struct {
			Entries       []timer.HistoryEntry
			NextPageToken string `json:"next_page_token"`
		}
		env.as("guest", "GET", path+"/history?page_size=1&page_token="+token, nil).Into(&page)
		all = append(page.Entries, all...)
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	require.Equal(t, entries, all, "page by page it is the same story")

	var versions struct {
		Versions []struct {
			ChangedBy string `json:"changed_by"`
			Who       *wire.Actor
		}
	}
	env.as("guest", "GET", "/v1/policies/"+kind+"/versions", nil).Into(&versions)
	require.Equal(t, "ops", versions.Versions[0].ChangedBy)
	require.Equal(t, "admin", versions.Versions[0].Who.Role)
	require.Equal(t, "127.0.0.1", versions.Versions[0].Who.From)
}

func await(t *testing.T, env guarded, path, status string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.Equal(c, status, env.as("ops", "GET", path, nil).Timer().Status)
	}, testenv.Patience, testenv.Interval, "%s should become %s", path, status)
}

// What came by a tool of Temporal's is told, and that nobody knows who used it. Jobs work on
// behalf of who ordered them, and a cancel of a policy's timers on behalf of who deleted it.
func TestWhoCancelledATimer(t *testing.T) {
	t.Parallel()
	_, r, kind := testenv.Start(t)
	env := openGuarded(t, kind)
	require.Equal(t, http.StatusCreated, env.as("ops", "PUT", "/v1/policies/"+kind, testenv.JSON{"callback": testenv.JSON{"url": r.On("/1", receiver.Status(204))}}).Status)
	for _, id := range []string{"api", "tool", "killed", "job", "policy"} {
		require.Equal(t, http.StatusCreated, env.as("shop", "POST", "/v1/timers", testenv.JSON{"business_type": kind, "business_id": id, "delay": "1h", "labels": testenv.JSON{"what": id}}).Status)
	}
	path := "/v1/timers/" + kind + "/"
	require.Equal(t, http.StatusOK, env.as("shop", "DELETE", path+"api?wait=30s", nil).Status)
	tool, err := client.Dial(client.Options{HostPort: testenv.Addr, Identity: "tctl@desk"})
	require.NoError(t, err)
	defer tool.Close()
	require.NoError(t, tool.CancelWorkflow(t.Context(), kind+"/tool", ""))
	require.NoError(t, tool.TerminateWorkflow(t.Context(), kind+"/killed", "", "by hand"))
	order := testenv.JSON{"operation": "cancel", "filter": testenv.JSON{"business_type": kind, "labels": testenv.JSON{"what": "job"}}}
	require.EventuallyWithT(t, func(c *assert.CollectT) { // lists lag behind
		require.Equal(c, http.StatusAccepted, env.as("shop", "POST", "/v1/bulk", order).Status)
		require.Equal(c, "cancelled", env.as("ops", "GET", path+"job", nil).Timer().Status)
	}, testenv.Patience, 500*time.Millisecond, "the job cancels")
	require.Equal(t, http.StatusNoContent, env.as("ops", "DELETE", "/v1/policies/"+kind+"?timers=cancel", nil).Status)

	for id, want := range map[string][]string{
		"api":    {"booked by shop", "cancel_requested by shop", "cancelled by shop"},
		"tool":   {"booked by shop", "cancel_requested by nobody knows", "cancelled by nobody knows"},
		"killed": {"booked by shop", "terminated by nobody knows"},
		"job":    {"booked by shop", "cancel_requested by shop through a job", "cancelled by shop through a job"},
		"policy": {"booked by shop", "cancel_requested by ops through a job", "cancelled by ops through a job"},
	} {
		await(t, env, path+id, "cancelled")
		require.Equal(t, want, told(env.story(t, path+id)), id)
	}
	by := env.story(t, path+"tool")[1]
	require.Equal(t, "tctl@desk", by.Identity)
	require.Equal(t, "by hand", env.story(t, path+"killed")[1].Reason)
	require.Equal(t, "operator", env.story(t, path+"job")[1].Who.Role)
}
