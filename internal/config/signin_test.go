package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/config"
)

// certified makes a self-signed certificate, and returns the names of its files.
func certified(t *testing.T) (certificate, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	text, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	dir := t.TempDir()
	return pemFile(t, dir, "CERTIFICATE", der), pemFile(t, dir, "PRIVATE KEY", text)
}

func setAll(t *testing.T, settings map[string]string) {
	for name, value := range settings {
		t.Setenv(name, value)
	}
}

func provider(more map[string]string) map[string]string {
	all := map[string]string{
		"WAKECALL_OIDC_ISSUER": "https://id.example/realms/shop", "WAKECALL_OIDC_AUDIENCE": "wakecall", "WAKECALL_OIDC_ROLES": "ops=admin, shop=operator+no-payloads:order-*",
	}
	for name, value := range more {
		all[name] = value
	}
	return all
}

// A provider and client authorities authenticate callers, as keys do.
func TestBeyondLoopbackWithoutKeys(t *testing.T) {
	certificate, key := certified(t)
	for name, settings := range map[string]map[string]string{
		"a provider":              provider(nil),
		"authorities of clients":  {"WAKECALL_TLS_CERT_FILE": certificate, "WAKECALL_TLS_KEY_FILE": key, "WAKECALL_TLS_CLIENT_CA_FILE": certificate, "WAKECALL_TLS_ROLES": "ops=admin"},
		"TLS shows nobody's name": {"WAKECALL_TLS_CERT_FILE": certificate, "WAKECALL_TLS_KEY_FILE": key},
	} {
		t.Run(name, func(t *testing.T) {
			setAll(t, settings)
			t.Setenv("WAKECALL_HTTP_ADDR", ":8080")
			c, err := config.Load()
			if name == "TLS shows nobody's name" {
				require.ErrorContains(t, err, "WAKECALL_HTTP_ADDR: an address beyond loopback needs")
				return
			}
			require.NoError(t, err)
			require.True(t, c.AsksWho())
		})
	}
}

func TestRolesOfGroups(t *testing.T) {
	setAll(t, provider(nil))
	c, err := config.Load()
	require.NoError(t, err)
	require.Equal(t, []auth.Mapping{
		{Name: "ops", Grant: auth.Grant{Role: auth.Admin, Payloads: true, Types: []string{auth.AllBusinessTypes}}},
		{Name: "shop", Grant: auth.Grant{Role: auth.Operator, Types: []string{"order-*"}}},
	}, c.OIDCRoles)
	require.Equal(t, "groups", c.OIDCGroups)
}

func TestIssuers(t *testing.T) {
	for issuer, good := range map[string]bool{
		"https://accounts.google.com": true, "https://id.example:8443/realms/shop/": true, "http://127.0.0.1:5556/dex": true, "http://localhost:5556": true, "http://[::1]:5556": true,
		"http://id.example": false, "http://127.0.0.1.id.example": false, "https://": false, "id.example": false, "file:///etc/passwd": false,
		"https://id.example/?a=b": false, "https://id.example/#a": false, "https://user:word@id.example": false, "https://id.example/%zz": false,
	} {
		t.Run(issuer, func(t *testing.T) {
			setAll(t, provider(map[string]string{"WAKECALL_OIDC_ISSUER": issuer}))
			_, err := config.Load()
			if good {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "WAKECALL_OIDC_ISSUER: must be https://")
			require.NotContains(t, err.Error(), "word")
		})
	}
}

// Half a setting is refused: the missing half would admit too many callers, or none.
func TestHalvesAreRefused(t *testing.T) {
	certificate, key := certified(t)
	_, otherKey := certified(t)
	tls := map[string]string{"WAKECALL_TLS_CERT_FILE": certificate, "WAKECALL_TLS_KEY_FILE": key}
	with := func(of map[string]string, name, value string) map[string]string {
		all := map[string]string{name: value}
		for name, value := range of {
			if _, ok := all[name]; !ok {
				all[name] = value
			}
		}
		return all
	}
	for want, settings := range map[string]map[string]string{
		"WAKECALL_OIDC_ISSUER: needs WAKECALL_OIDC_AUDIENCE":                   provider(map[string]string{"WAKECALL_OIDC_AUDIENCE": ""}),
		"WAKECALL_OIDC_ISSUER: needs WAKECALL_OIDC_ROLES":                      provider(map[string]string{"WAKECALL_OIDC_ROLES": ""}),
		"WAKECALL_OIDC_ROLES: needs WAKECALL_OIDC_ISSUER":                      {"WAKECALL_OIDC_ROLES": "ops=admin"},
		"WAKECALL_OIDC_AUDIENCE: needs WAKECALL_OIDC_ISSUER":                   {"WAKECALL_OIDC_AUDIENCE": "wakecall"},
		"WAKECALL_OIDC_CLIENT_ID: needs WAKECALL_OIDC_ISSUER":                  {"WAKECALL_OIDC_CLIENT_ID": "console"},
		"WAKECALL_OIDC_CLIENT_SECRET: needs WAKECALL_OIDC_CLIENT_ID":           provider(map[string]string{"WAKECALL_OIDC_CLIENT_SECRET": "s3cret"}),
		"WAKECALL_TLS_CERT_FILE: needs WAKECALL_TLS_KEY_FILE":                  {"WAKECALL_TLS_CERT_FILE": certificate},
		"WAKECALL_TLS_KEY_FILE: needs WAKECALL_TLS_CERT_FILE":                  {"WAKECALL_TLS_KEY_FILE": key},
		"WAKECALL_TLS_CERT_FILE: tls: private key does not match":              with(tls, "WAKECALL_TLS_KEY_FILE", otherKey),
		"WAKECALL_TLS_KEY_FILE: " + certificate + " has no private key in PEM": with(tls, "WAKECALL_TLS_KEY_FILE", certificate),
		"WAKECALL_TLS_CLIENT_CA_FILE: needs WAKECALL_TLS_CERT_FILE":            {"WAKECALL_TLS_CLIENT_CA_FILE": certificate, "WAKECALL_TLS_ROLES": "ops=admin"},
		"WAKECALL_TLS_CLIENT_CA_FILE: needs WAKECALL_TLS_ROLES":                with(tls, "WAKECALL_TLS_CLIENT_CA_FILE", certificate),
		"WAKECALL_TLS_ROLES: needs WAKECALL_TLS_CLIENT_CA_FILE":                with(tls, "WAKECALL_TLS_ROLES", "ops=admin"),
		"WAKECALL_TLS_CLIENT_CA_FILE: " + key + " has no certificate in PEM":   with(with(tls, "WAKECALL_TLS_ROLES", "ops=admin"), "WAKECALL_TLS_CLIENT_CA_FILE", key),
	} {
		t.Run(want, func(t *testing.T) {
			setAll(t, settings)
			_, err := config.Load()
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}
