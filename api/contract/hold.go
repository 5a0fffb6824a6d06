package contract

import (
	"sync"
	"testing"

	"github.com/wakecall/wakecall/api"
)

// Wakecall is the OpenAPI document of Wakecall.
var Wakecall = sync.OnceValues(func() (*Document, error) { return Load(api.OpenAPI) })

// Hold fails the test if a call violates the document. It does not stop the test, since
// calls are made from many goroutines.
func Hold(t testing.TB, x Exchange) {
	t.Helper()
	document, err := Wakecall()
	if err == nil {
		err = document.Check(x)
	}
	if err != nil {
		t.Errorf("%s %s violates api/openapi.yaml: %v", x.Request.Method, x.Request.URL.Path, err)
	}
}
