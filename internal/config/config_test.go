package config_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/seal"
)

const digest = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

func TestDefaults(t *testing.T) {
	c, err := config.Load()
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", c.HTTPAddr)
	require.Empty(t, c.CallbackAllow, "no private address can be called back by default")
}

func TestEverythingWrongIsNamed(t *testing.T) {
	for name, value := range map[string]string{
		"WAKECALL_SECRET_KEY": "short", "WAKECALL_HTTP_ADDR": "nowhere", "WAKECALL_POLICY_TTL": "1h", "WAKECALL_STOP_TIMEOUT": "-1s",
		"WAKECALL_REDIS_URL": "http://:secret@nowhere",
	} {
		t.Setenv(name, value)
	}
	_, err := config.Load()
	require.Error(t, err)
	for _, name := range []string{"WAKECALL_SECRET_KEY", "WAKECALL_HTTP_ADDR", "WAKECALL_POLICY_TTL", "WAKECALL_STOP_TIMEOUT", "WAKECALL_REDIS_URL"} {
		require.ErrorContains(t, err, name)
	}
	require.NotContains(t, err.Error(), "secret@")
}

func TestUnreadableValues(t *testing.T) {
	for name, value := range map[string]string{
		"WAKECALL_POLICY_TTL": "soon", "WAKECALL_CALLBACK_ALLOW": "10.0.0.0", "WAKECALL_API_KEYS": "ops:" + digest[1:],
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := config.Load()
			require.Error(t, err)
		})
	}
}

func TestBeyondLoopbackNeedsKeys(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:8080", ":8080", "10.0.0.1:80", "example.com:80"} {
		t.Setenv("WAKECALL_HTTP_ADDR", addr)
		_, err := config.Load()
		require.ErrorContains(t, err, "WAKECALL_API_KEYS", addr)
	}
	t.Setenv("WAKECALL_API_KEYS", "ops:"+digest+",ci:"+digest)
	c, err := config.Load()
	require.NoError(t, err)
	require.Len(t, c.APIKeys, 2)
	require.Equal(t, "ci", c.APIKeys[1].Name)
}

func TestLoopbackNeedsNone(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:80", "localhost:80"} {
		t.Setenv("WAKECALL_HTTP_ADDR", addr)
		_, err := config.Load()
		require.NoError(t, err, addr)
	}
}

func TestSecretKeyIsTaken(t *testing.T) {
	t.Setenv("WAKECALL_SECRET_KEY", seal.NewKey())
	_, err := config.Load()
	require.NoError(t, err)
}

// docs/configuration.md is held to the settings, row by row.
func TestDocumentationNamesEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	settings := reflect.TypeFor[config.Config]()
	for i := range settings.NumField() {
		tag := settings.Field(i).Tag
		row := fmt.Sprintf("| `%s` | %s | %s |", tag.Get("env"), defaultOf(tag), tag.Get("help"))
		require.Contains(t, string(page), row)
	}
	require.Equal(t, settings.NumField(), strings.Count(section(string(page), "## Roles"), "\n| `WAKECALL_"), "no row too many")
}

func defaultOf(tag reflect.StructTag) string {
	if value := tag.Get("envDefault"); value != "" {
		return "`" + value + "`"
	}
	return ""
}

// section is the part of a page under one heading.
func section(page, heading string) string {
	_, rest, _ := strings.Cut(page, heading)
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}
