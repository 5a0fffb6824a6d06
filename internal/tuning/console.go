package tuning

import "time"

// FormBytes bounds a form of the console: a note and two times are less than a KB.
const FormBytes = 64 << 10

// Sessions of the console.
const (
	// CookieBytes is how long a sealed value may be. Browsers keep 4096 bytes, with the name.
	CookieBytes = 3800
	// SignInLife is how long a user may take at the identity provider, and FormLife how long a
	// form is kept that was sent when the session was over.
	SignInLife = 10 * time.Minute
	FormLife   = 15 * time.Minute
	// SessionLife is how long a sign-in lasts: a day's work.
	SessionLife = 8 * time.Hour
	// SessionIdle is how long an unused session lives.
	SessionIdle = 30 * time.Minute
	// SessionRenewal is the age at which a session's cookie is sent again. A session may end
	// that much too early after its last use.
	SessionRenewal = time.Minute
)
