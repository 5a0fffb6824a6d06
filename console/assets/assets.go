package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/wakecall/wakecall/console/links"
)

//go:embed files
var files embed.FS

// mediaTypes has the media types of the files that pages load, by the end of the name.
var mediaTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

// asset is a file as it is served.
type asset struct {
	hash, mediaType string
	plain, packed   []byte
}

// all are the assets by name. They are packed once, when the first of them is asked for.
var all = sync.OnceValue(func() map[string]asset {
	known := map[string]asset{}
	entries, _ := fs.ReadDir(files, "files") // a test reads them all
	for _, entry := range entries {
		name := entry.Name()
		mediaType := mediaTypes[name[strings.LastIndexByte(name, '.'):]]
		if mediaType == "" { // a licence
			continue
		}
		text, _ := fs.ReadFile(files, "files/"+name)
		switch name {
		case "console.css":
			text = []byte(dense.Replace(string(text)))
		case "console.js":
			text = []byte(denseScript(string(text)))
		}
		sum := sha256.Sum256(text)
		known[name] = asset{hash: hex.EncodeToString(sum[:8]), mediaType: mediaType, plain: text, packed: pack(text)}
	}
	return known
})

// dense takes out of a style sheet what is for its readers only.
var dense = strings.NewReplacer(
	"\n  ", "", "\n", "", " {", "{", "{ ", "{", "; }", "}", "; ", ";", ": ", ":", ", ", ",", " }", "}", " > ", ">",
)

// denseScript is a script of ours without what is for its readers only: lines of comments, what lines
// begin with, their end where a statement cannot end by it, and the space around some signs.
func denseScript(text string) string {
	var all strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		all.WriteString(denseSigns.Replace(line))
		if !strings.ContainsAny(line[len(line)-1:], ";,{") {
			all.WriteByte('\n')
		}
	}
	return all.String()
}

// denseSigns are those that stand in no text of the script.
var denseSigns = strings.NewReplacer(
	" => ", "=>", " = ", "=", " && ", "&&", " || ", "||", " === ", "===", " !== ", "!==", " ? ", "?", " : ", ":",
	"if (", "if(", "for (", "for(", ") {", "){",
)

func pack(text []byte) []byte {
	var packed bytes.Buffer
	out, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid, and a buffer takes everything
	_, _ = out.Write(text)
	_ = out.Close()
	return packed.Bytes()
}

// Path is the address of a file, under a hash of its content; "" for no such file.
func Path(name string) string {
	found, ok := all()[name]
	if !ok {
		return ""
	}
	return links.Root + "assets/" + found.hash + "/" + name
}

// Serve answers with a file. It reports whether there is one with the hash.
func Serve(w http.ResponseWriter, r *http.Request, hash, name string) bool {
	found, ok := all()[name]
	if !ok || found.hash != hash {
		return false
	}
	header, body := w.Header(), found.plain
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Content-Type", found.mediaType)
	header.Set("Vary", "Accept-Encoding")
	if TakesGzip(r.Header.Get("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
		body = found.packed
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
	return true
}

// TakesGzip reports whether a client reads gzip (RFC 9110, section 12.5.3).
func TakesGzip(accepted string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return strings.Trim(strings.TrimSpace(weight), "q=0.") != "" || weight == ""
		}
	}
	return false
}
