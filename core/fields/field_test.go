package fields_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
)

// The page on policies has a row for each field, with its default and bounds.
func TestPageHasEveryPolicyField(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/policies.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			rows[strings.Trim(cells[1], " `")] = strings.ReplaceAll(line, ",", "")
		}
	}
	for _, field := range policy.Fields() {
		name := strings.ReplaceAll(field.Pointer[1:], "/", ".")
		if strings.HasPrefix(name, "retry.") {
			continue // the ladders have a page of their own
		}
		row, ok := rows[name]
		require.True(t, ok, "there is no row for %s", name)
		if field.Default != nil {
			require.Contains(t, row, fmt.Sprintf("| %v |", field.Default), name)
		}
		if field.Lowest != nil {
			require.Contains(t, row, fmt.Sprintf("%v to %v", field.Lowest, field.Highest), name)
		}
		if field.Zero != "" {
			require.Contains(t, row, fmt.Sprintf("with %v ", field.Empty()), name)
		}
	}
}
