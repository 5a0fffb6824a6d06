package sessions

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/internal/tuning"
)

// kept is something that the browser keeps for the console, sealed. Nothing that was sealed for
// one of them opens in place of another.
type kept struct {
	// purpose is what it is sealed for, and suffix that of its cookie's name.
	purpose, suffix string
}

// What the browser keeps.
var (
	ofSession = kept{"console session", ""}
	OfSignIn  = kept{"console sign-in", "-login"}
	OfForm    = kept{"console form", "-form"}
)

// The beginnings of the names of cookies. A browser takes the first over TLS only, and from this
// host only.
const (
	cookieSecure = "__Host-wakecall"
	cookiePlain  = "wakecall"
)

var (
	errNoCookie = errors.New("there is no such cookie, or there are two")
	errTooLong  = errors.New("it is too long for a cookie")
)

// cookie is good under its host; where that is this machine, plain HTTP is as good as TLS.
func (c *Sessions) cookie(x Exchange, what kept, value string, ends time.Time) *http.Cookie {
	secure := c.Encrypted(x.R)
	name := cookiePlain
	if secure {
		name = cookieSecure
	}
	return &http.Cookie{
		Name: name + what.suffix, Value: value, Path: "/", Expires: ends, HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	}
}

// Remember has the browser keep a value until it ends. One that is too long is refused.
func (c *Sessions) Remember(x Exchange, what kept, value any, ends time.Time) error {
	var text bytes.Buffer
	packed, err := flate.NewWriter(&text, flate.BestCompression)
	if err != nil {
		return err
	}
	if err := errors.Join(json.MarshalWrite(packed, value), packed.Close()); err != nil {
		return err
	}
	sealed, err := c.Box.SealAs(what.purpose, text.String())
	if err != nil {
		return err
	}
	if len(sealed) > tuning.CookieBytes {
		return errTooLong
	}
	http.SetCookie(x.W, c.cookie(x, what, sealed, ends))
	return nil
}

// Recall reads what the browser has kept. Of two cookies, one may be forged.
func (c *Sessions) Recall(x Exchange, what kept, into any) error {
	cookies := x.R.CookiesNamed(c.cookie(x, what, "", time.Time{}).Name)
	if len(cookies) != 1 {
		return errNoCookie
	}
	text, err := c.Box.OpenAs(what.purpose, cookies[0].Value)
	if err != nil {
		return err
	}
	return json.UnmarshalRead(io.LimitReader(flate.NewReader(strings.NewReader(text)), tuning.FormBytes), into)
}

// Forget has the browser forget what it has kept.
func (c *Sessions) Forget(x Exchange, what kept) {
	gone := c.cookie(x, what, "", time.Unix(1, 0))
	gone.MaxAge = -1
	http.SetCookie(x.W, gone)
}
