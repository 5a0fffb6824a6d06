package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/seal"
)

// docs/configuration.md is held to the settings, row by row.
func TestDocumentationNamesEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/configuration.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "## Standalone")
	own := reflect.TypeFor[settings]()
	for i := range own.NumField() {
		tag := own.Field(i).Tag
		require.Contains(t, section, fmt.Sprintf("| `%s` | `%s` | %s |", tag.Get("env"), tag.Get("envDefault"), tag.Get("help")))
	}
	require.Equal(t, own.NumField(), strings.Count(section, "\n| `WAKECALL_"), "no row too many")
}

func TestSecretKeyIsKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret.key")
	first, err := secretKey(file)
	require.NoError(t, err)
	again, err := secretKey(file)
	require.NoError(t, err)
	require.Equal(t, first, again)
	_, err = seal.New(first)
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
