package model_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/model"
)

// The page shows the present model. If this fails, paste its output into the page.
func TestThePageIsDrawnFromTheModel(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "state-machine.md"))
	require.NoError(t, err)
	picture := "```mermaid\n" + model.Picture(model.All().Walk(depth)) + "```\n"
	require.True(t, strings.Contains(string(page), picture), picture)
	table := model.All().Table()
	require.True(t, strings.Contains(string(page), table), table)
	for _, phase := range model.Phases() {
		require.Contains(t, string(page), "| `"+string(phase)+"` |", "the page explains it")
	}
	for _, e := range model.Events() {
		require.Contains(t, string(page), "| `"+string(e)+"` |", "the page explains it")
	}

	fewer := model.Picture(model.All()[1:].Walk(depth))
	require.False(t, strings.Contains(string(page), fewer), "the oracle sees an arrow that is gone")
}
