package front

import (
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/testenv"
)

// sampleCall is how an operation is called so that it is carried out, if the caller may.
type sampleCall struct {
	// about makes what the call is about, and returns its id in the path. An operation of all
	// business types, or of none, is about the type "".
	about func(m *access, kind, id string) string
	query func(kind string) string
	body  func(kind, id string) any
	// everything is whether the call can be about all business types.
	everything bool
	// want is what it is answered with.
	want []int
}

func aTimer(m *access, kind, id string) string {
	m.make("/v1/timers", testenv.JSON{"business_type": kind, "business_id": id, "delay": "1h"})
	return id
}

func aSeries(m *access, kind, id string) string {
	m.make("/v1/timers", testenv.JSON{"business_type": kind, "business_id": id, "recurrence": testenv.JSON{"every": "1h"}})
	return id
}

func aDispatch(m *access, kind, id string) string {
	m.make("/v1/dispatches", dispatchOf(kind, id))
	return id
}

func dispatchOf(kind, id string) any {
	return testenv.JSON{"business_type": kind, "business_id": id, "per_second": 10, "delay": "1h", "items": []any{testenv.JSON{"id": "u-1"}}}
}

func aBulkJob(m *access, kind, id string) string {
	m.make("/v1/bulk", bulkOf(kind, id))
	return id
}

// bulkOf finds no timers, whomever it is for.
func bulkOf(kind, id string) any {
	filter := testenv.JSON{"business_id": "nobody"}
	if kind != "" {
		filter["business_type"] = kind
	}
	return testenv.JSON{"id": strings.ToLower(id), "operation": "cancel", "filter": filter}
}

// aDelivery is one whose receiver has accepted it.
func aDelivery(m *access, kind, id string) string {
	_, delivery := testenv.Accepted(m.T, m.admin, m.receiver, testenv.Nth{Path: kind + "/" + id, Number: 1})
	return delivery.WebhookID
}

func ofType(kind string) string {
	if kind == "" {
		return ""
	}
	return "business_type=" + kind
}

func text(body string) func(string, string) any {
	return func(string, string) any { return body }
}

var (
	done        = []int{http.StatusOK}
	doneOrSoon  = []int{http.StatusOK, http.StatusAccepted}
	theSamePlan = text(`{"priority":3}`)
)

// sampleCalls are all operations of the contract, by their ids.
var sampleCalls = map[string]sampleCall{
	"addTimer": {want: []int{http.StatusCreated}, body: func(kind, id string) any {
		return testenv.JSON{"business_type": kind, "business_id": id, "delay": "1h"}
	}},
	"addBatch": {want: done, body: func(kind, id string) any {
		return testenv.JSON{"timers": []any{testenv.JSON{"business_type": kind, "business_id": id, "delay": "1h"}}}
	}},
	"listTimers":      {want: done, query: ofType, everything: true},
	"getTimer":        {want: done, about: aTimer},
	"putTimer":        {want: []int{http.StatusCreated}, body: text(`{"delay":"1h"}`)},
	"patchTimer":      {want: doneOrSoon, about: aTimer, body: text(`{"delay":"2h"}`)},
	"cancelTimer":     {want: doneOrSoon, about: aTimer},
	"fireTimer":       {want: doneOrSoon, about: aTimer},
	"redeliverTimer":  {want: []int{http.StatusConflict}, about: aTimer},
	"pauseTimer":      {want: doneOrSoon, about: aSeries, body: text(`{}`)},
	"resumeTimer":     {want: doneOrSoon, about: aSeries},
	"listAttempts":    {want: done, about: aTimer},
	"listHistory":     {want: done, about: aTimer},
	"explainTimer":    {want: done, about: aTimer},
	"listUpcoming":    {want: done, about: aSeries},
	"listOccurrences": {want: done, about: aSeries},

	"startBulk":       {want: []int{http.StatusAccepted}, body: bulkOf, everything: true},
	"listBulk":        {want: done},
	"getBulk":         {want: done, about: aBulkJob, everything: true},
	"stopBulk":        {want: doneOrSoon, about: aBulkJob, everything: true},
	"listBulkResults": {want: done, about: aBulkJob, everything: true},

	"startDispatch":         {want: []int{http.StatusCreated}, body: dispatchOf},
	"listDispatches":        {want: done, query: ofType, everything: true},
	"getDispatch":           {want: done, about: aDispatch},
	"changeDispatch":        {want: doneOrSoon, about: aDispatch, body: text(`{"per_second":20}`)},
	"cancelDispatch":        {want: doneOrSoon, about: aDispatch},
	"uploadItems":           {want: []int{http.StatusConflict, http.StatusUnprocessableEntity}, about: aDispatch, body: text(`{"id":"u-2"}`)},
	"pauseDispatch":         {want: doneOrSoon, about: aDispatch},
	"resumeDispatch":        {want: doneOrSoon, about: aDispatch},
	"listDispatchFailures":  {want: done, about: aDispatch},
	"retryDispatchFailures": {want: []int{http.StatusAccepted, http.StatusConflict}, about: aDispatch},
	"followDispatch":        {want: done, about: aDispatch},

	"listPolicies":       {want: done},
	"getPolicy":          {want: done},
	"putPolicy":          {want: done, query: func(string) string { return "dry_run=true" }, body: text(`{"callback":{"url":"https://example.com"}}`)},
	"patchPolicy":        {want: done, body: theSamePlan},
	"deletePolicy":       {want: []int{http.StatusConflict}, about: aTimer},
	"listPolicyVersions": {want: done},
	"testPolicy":         {want: []int{http.StatusOK, http.StatusTooManyRequests}}, // one a second
	"liftBackPressure":   {want: []int{http.StatusNoContent}},

	"countTimers":       {want: done, query: ofType, everything: true},
	"reportObjectives":  {want: done, query: ofType},
	"countOutcomes":     {want: done, query: ofType},
	"forecastTimers":    {want: done, query: ofType},
	"listEmergencies":   {want: done},
	"pauseEverything":   {want: done, body: emergencyOf, everything: true},
	"resumeEverything":  {want: done, body: emergencyOf, everything: true},
	"listAudit":         {want: done, query: ofType},
	"listProcesses":     {want: done},
	"whoami":            {want: done},
	"listKeys":          {want: done},
	"previewRecurrence": {want: done, body: text(`{"recurrence":{"every":"1h"}}`)},

	"connect":      {want: []int{http.StatusConflict}, query: func(string) string { return "wait=0s" }},
	"answerRing":   {want: []int{http.StatusConflict}, body: text(`{"ack":"nothing"}`)},
	"ackDelivery":  {want: doneOrSoon, about: aDelivery},
	"nackDelivery": {want: doneOrSoon, about: aDelivery},
}

func emergencyOf(kind, _ string) any {
	if kind == "" {
		return testenv.JSON{"everything": true}
	}
	return testenv.JSON{"business_types": []string{kind}}
}

// make makes what a call is about, as somebody who may do everything.
func (m *access) make(path string, body any) {
	m.Helper()
	reply := m.admin.Do("POST", path, body)
	require.Less(m, reply.Status, http.StatusMultipleChoices, "%s", reply.Body)
}
