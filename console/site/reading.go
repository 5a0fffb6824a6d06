package site

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Timeouts bound how long a visit waits for its calls, all together; 0 is for no bound.
type Timeouts struct {
	// Page is for a page that is loaded, and Part for what of an open page changes.
	Page, Part time.Duration
	// Brief is for what a loaded page does not wait for ([calls.Call.Briefly]).
	Brief time.Duration
}

// reads are the calls of one visit that change nothing. It is safe for concurrent use.
type reads struct {
	mu sync.Mutex
	// made counts them by path.
	made map[string]int
	age  age
}

// age is how old what a visit shows is.
type age struct {
	// old reports whether an old answer is shown, because the API gave none. behind reports whether the picture of
	// the whole installation is old, because it is being read again.
	old, behind bool
	// since is when the oldest of them was given; the zero time if that is not known.
	since time.Time
}

// at is the age with something more that was given at a time.
func (a age) at(given time.Time) age {
	if !a.old && !a.behind || given.Before(a.since) {
		a.since = given
	}
	return a
}

// keyOf names a call among those of its page. Its query may have the time in it, so it is the nth of its
// path.
func (r *reads) keyOf(path string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made[path]++
	return path + " " + strconv.Itoa(r.made[path])
}

// showOld records that an old answer is shown, because the API gave none.
func (r *reads) showOld(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.age = r.age.at(at)
	r.age.old = true
}

// showBehind records that the picture of the whole installation is old, because it is being read again.
func (r *reads) showBehind(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.age = r.age.at(at)
	r.age.behind = true
}

func (r *reads) shown() age {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.age
}

// ShowOld notes that a page shows what was known last, at a time.
func (v *Visit) ShowOld(at time.Time) { v.reads.showOld(at) }

// Scope is the rights of a principal as a text. Pages for equal texts are equal.
func Scope(who *auth.Principal) string { return fmt.Sprint(who.Grants) }

// read makes a call that changes nothing. If the API does not answer in time, or fails, the page shows the last
// answer to the same page for the same rights, and says its age. A page that is loaded shows that answer at once
// if it is younger than [calls.Call.MaxAge].
func (c *Site) read(v *Visit, made calls.Call, to any) (*calls.Answer, *calls.Problem) {
	request, err := v.request(made)
	if err != nil {
		return nil, c.Broken(err)
	}
	key := Scope(v.Who) + " " + v.page() + " " + v.reads.keyOf(made.Path)
	if made.Fresh {
		key = ""
	}
	if last, ok := c.memory.get(key); ok && !v.Part && last.changes == c.Watch.Changes() && c.Now().Sub(last.at) < made.MaxAge {
		return last.Answer, c.decodeFor(to, last.Answer)
	}
	wait, stop := c.timeout(v, made)
	defer stop()
	a, problem := c.await(wait, v, question{key, request})
	if problem != nil && problem.Status >= http.StatusInternalServerError {
		if last, ok := c.memory.get(key); ok {
			v.reads.showOld(last.at)
			a, problem = last.Answer, nil
		}
	}
	if problem != nil {
		return a, problem
	}
	return a, c.decodeFor(to, a)
}

// decodeFor decodes an answer into to, unless to is nil: the caller then wants only the status.
func (c *Site) decodeFor(to any, a *calls.Answer) *calls.Problem {
	if to == nil {
		return nil
	}
	return c.Decode(a.Body.Bytes(), to)
}

// question is a call that changes nothing, and the key of its answer in the memory; "" where that is not
// kept.
type question struct {
	key     string
	request *http.Request
}

// await waits for an answer as long as the visit may take. The call goes on without it, so that the next
// visit knows its answer. Calls with the same key, of the same principal, are made once at a time; but a
// visit does not join a call from before a change that was made here. A call without a key is made for
// each visit, and its answer is not kept.
func (c *Site) await(wait context.Context, v *Visit, q question) (*calls.Answer, *calls.Problem) {
	type outcome struct {
		answer  *calls.Answer
		problem *calls.Problem
	}
	changes := c.Watch.Changes()
	group, joined := &c.memory.asking, fmt.Sprint(v.Who.Name, " ", changes, " ", q.key)
	if q.key == "" {
		group = &singleflight.Group{}
	}
	asked := group.DoChan(joined, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(q.request.Context()), tuning.LiveRender)
		defer cancel()
		a, problem := c.sendSafely(q.request.WithContext(ctx))
		if problem == nil && q.key != "" {
			c.memory.put(q.key, known{a, c.Now(), changes})
		}
		return outcome{a, problem}, nil
	})
	select {
	case result := <-asked:
		got := result.Val.(outcome)
		return got.answer, got.problem
	case <-wait.Done():
		return nil, &calls.Problem{Status: http.StatusServiceUnavailable, Title: v.Lang.Say("refused.slow")}
	}
}

// sendSafely makes a call outside of the visit that wants it, where a panic would end the process.
func (c *Site) sendSafely(request *http.Request) (a *calls.Answer, problem *calls.Problem) {
	defer func() {
		if p := recover(); p != nil {
			problem = c.Broken(fmt.Errorf("a call panicked: %v", p))
		}
	}()
	return c.Send(request, nil)
}

// timeout bounds the wait for a call. A visit that has used up its time still waits for what is answered
// at once.
func (c *Site) timeout(v *Visit, made calls.Call) (context.Context, context.CancelFunc) {
	whole, least := c.Timeouts.Page, tuning.PageLeast
	switch {
	case v.Part && !c.Watch.Last().EngineAway():
		whole = c.Timeouts.Part
	case !v.Part && made.Brief && c.Timeouts.Brief > 0:
		whole, least = c.Timeouts.Brief, tuning.BriefLeast
	}
	if whole == 0 {
		return context.WithCancel(v.R.Context())
	}
	return context.WithTimeout(v.R.Context(), max(whole-time.Since(v.began), least))
}
