package terminal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/terminal"
)

// Text of strangers that a terminal would obey or hide.
var hostile = map[string]string{
	"\x1b[2J": `\u001b[2J`, "\r": `\u000d`, "\b": `\u0008`, "\x7f": `\u007f`, "\x00": `\u0000`,
	"\u009b2J": `\u009b2J`, "\u0085": `\u0085`, "\u0090q\u009c": `\u0090q\u009c`, "\x9b2J": `\x9b2J`,
	"a\u202eb": `a\u202eb`, "\u2066x\u2069": `\u2066x\u2069`, "\u200e": `\u200e`, "\u061c": `\u061c`,
	"\u2028": `\u2028`, "\u2029": `\u2029`,
	"pay\u200bpal": `pay\u200bpal`, "\u200d": `\u200d`, "\ufeff": `\ufeff`, "\u2060": `\u2060`, "\u00ad": `\u00ad`, "\ufe0f": `\ufe0f`,
	"\u3164": `\u3164`, "\U000e0041": `\udb40\udc41`, "\ufffd": `\ufffd`,
}

func TestSafe(t *testing.T) {
	t.Parallel()
	for text, want := range hostile {
		require.Equal(t, want, terminal.Safe(text), "%q", text)
	}
	require.Equal(t, `\u000a\u0009`, terminal.Safe("\n\t"))
	for _, text := range []string{"", "order/1 failed: HTTP 503", "Größe, 時計, 🕰, é e\u0301, עברית", `back\slash`} {
		require.Equal(t, text, terminal.Safe(text))
	}
}

func TestWriter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for text, want := range hostile {
		out.Reset()
		n, err := terminal.Writer(&out).Write([]byte("one\t" + text + "\ntwo\n"))
		require.NoError(t, err)
		require.Equal(t, len("one\t"+text+"\ntwo\n"), n)
		require.Equal(t, "one\t"+want+"\ntwo\n", out.String())
	}
}
