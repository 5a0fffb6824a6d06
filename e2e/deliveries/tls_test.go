package deliveries

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// mutual starts a receiver over TLS that demands a client certificate. Its own
// certificate, signed by itself, is the one that it takes.
func mutual(t *testing.T, r *receiver.Receiver) (url string, settings testenv.JSON) {
	server := httptest.NewUnstartedServer(r)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return server.URL, testenv.JSON{
		"ca": certificate, "client_certificate": certificate,
		"client_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
	}
}

// A policy brings a private CA and a client certificate; its key is never shown,
// and kept where it is sent back as it was shown.
func TestPolicyBringsItsTLS(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	url, settings := mutual(t, r)
	path := "/v1/policies/" + kind
	policy := testenv.JSON{"callback": testenv.JSON{"url": url}, "retry": testenv.JSON{"steps": []string{}}}
	ring := func(id, status string) testenv.Timer {
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "300ms"}) // the policy is cached for 100ms
		return env.Await(kind+"/"+id, status)
	}
	env.Policy(kind, policy)
	require.Contains(t, ring("without", "failed").LastFailure.Message, "tls_unknown_issuer: ")

	policy["tls"] = settings
	env.Policy(kind, policy)
	ring("with", "delivered")
	shown := env.Do("GET", path, nil)
	require.NotContains(t, string(shown.Body), "PRIVATE KEY")
	var read testenv.JSON
	require.NoError(t, json.Unmarshal(shown.Body, &read))
	require.Equal(t, map[string]any{"ca": settings["ca"], "client_certificate": settings["client_certificate"], "client_key": "***"}, read["tls"])
	require.Equal(t, http.StatusOK, env.Do("PUT", path, read).Status)
	require.Equal(t, http.StatusOK, env.Do("PATCH", path, testenv.JSON{"tls": testenv.JSON{"client_key": "***"}}).Status)
	ring("kept", "delivered")

	own := sample.Booking(kind, "own", "0s", url)
	own["retry"] = testenv.JSON{"steps": []string{}}
	env.Add(own)
	require.Contains(t, env.Await(kind+"/own", "failed").LastFailure.Message, "tls_client_certificate: ", "the certificate is for the policy's receiver")

	require.Equal(t, http.StatusOK, env.Do("PATCH", path, testenv.JSON{"tls": nil}).Status)
	ring("removed", "failed")
	versions := env.Do("GET", path+"/versions", nil)
	require.NotContains(t, string(versions.Body), "PRIVATE KEY")
	history := env.Client.GetWorkflowHistory(t.Context(), workflows.PolicyID(kind), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		require.NotContains(t, event.String(), "PRIVATE KEY", "what Temporal keeps is sealed")
	}
}

// What cannot be used is refused by its field.
func TestPolicyWithWrongTLS(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	_, good := mutual(t, r)
	_, other := mutual(t, receiver.New(t))
	key := good["client_key"]
	for pointer, wrong := range map[string]testenv.JSON{
		"/tls":                    {},
		"/tls/ca":                 {"ca": "nothing"},
		"/tls/client_key":         {"client_certificate": good["client_certificate"], "client_key": "nothing"},
		"/tls/client_certificate": {"client_certificate": key, "client_key": key},
		"/tls/key":                {"ca": other["ca"], "key": key},
	} {
		reply := env.Do("PUT", "/v1/policies/"+kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "tls": wrong})
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, pointer)
		require.Equal(t, pointer, reply.Problem().Errors[0].Pointer)
	}
	kept := testenv.JSON{"client_certificate": good["client_certificate"], "client_key": "***"}
	reply := env.Do("PUT", "/v1/policies/"+kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "tls": kept})
	require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "there is none to keep")
	require.Equal(t, "/tls/client_key", reply.Problem().Errors[0].Pointer)
}
