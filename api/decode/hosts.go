package decode

import (
	"net/url"

	"golang.org/x/net/idna"

	"github.com/wakecall/wakecall/core/delivery"
)

// ASCIIHosts applies [ASCIIHost] to the receivers of alerts and outcomes. It skips nil.
func ASCIIHosts(told ...*delivery.Alert) {
	for _, alert := range told {
		if alert != nil {
			alert.URL = ASCIIHost(alert.URL)
		}
	}
}

// ASCIIHost writes an internationalised host name in its ASCII form (RFC
// 5891). What it cannot read it leaves for the check to refuse.
func ASCIIHost(raw string) string {
	if len(raw) > delivery.MaxURLLen { // the ASCII form takes time quadratic in the host
		return raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return raw
	}
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil || host == u.Hostname() {
		return raw
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	u.Host = host
	return u.String()
}
