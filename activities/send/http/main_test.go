package httpsend

import (
	"net"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: names.dial}
	goleak.VerifyTestMain(m)
}
