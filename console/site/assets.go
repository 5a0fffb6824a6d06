package site

import "github.com/wakecall/wakecall/console/assets"

// Asset answers with a file that pages load.
func (c *Site) Asset(v *Visit) {
	if !assets.Serve(v.W, v.R, v.R.PathValue("hash"), v.R.PathValue("file")) {
		c.Absent(v)
	}
}

// Load is the address of a file that pages load.
func (f *Frame) Load(name string) string { return assets.Path(name) }
