package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/links"
)

//go:embed assets/*
var assets embed.FS

// stylesPath names the style sheet under a hash of what is in it, so that it may be kept for ever.
var stylesPath = links.Root + "assets/" + hashOf("console.css") + "/console.css"

// dense takes out of a style sheet what is for its readers only.
var dense = strings.NewReplacer("\n  ", "", "\n", "", " {", "{", "{ ", "{", "; ", ";", ": ", ":", ", ", ",", " }", "}")

func readAsset(file string) (string, error) {
	text, err := fs.ReadFile(assets, "assets/"+file)
	if strings.HasSuffix(file, ".css") {
		return dense.Replace(string(text)), err
	}
	return string(text), err
}

func hashOf(file string) string {
	text, _ := readAsset(file) // a test reads them all
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Asset answers with a file that pages load.
func (c *Site) Asset(v *Visit) {
	file := v.R.PathValue("file")
	text, err := readAsset(file)
	if err != nil || v.R.PathValue("hash") != hashOf(file) {
		c.Absent(v)
		return
	}
	v.W.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(v.W, v.R, file, time.Time{}, strings.NewReader(text))
}
