package site

import (
	"compress/gzip"

	"github.com/wakecall/wakecall/console/assets"
	"github.com/wakecall/wakecall/internal/tuning"
)

// write answers with a page. It is compressed where the browser takes that: a table of 300 types is
// 20 times smaller then.
func (v *Visit) write(status int, page []byte) {
	header := v.W.Header()
	if len(page) < tuning.CompressedFrom || !assets.TakesGzip(v.R.Header.Get("Accept-Encoding")) {
		v.W.WriteHeader(status)
		_, _ = v.W.Write(page)
		return
	}
	header.Set("Content-Encoding", "gzip")
	v.W.WriteHeader(status)
	out, _ := gzip.NewWriterLevel(v.W, gzip.BestSpeed) // the level is valid
	_, _ = out.Write(page)
	_ = out.Close()
}
