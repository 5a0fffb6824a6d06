package tuning

import "time"

// FormBytes bounds a form of the console: a note and two times are less than a KB.
const FormBytes = 64 << 10

// Sessions of the console.
const (
	// SessionLife is how long who has signed in is signed in: a day's work.
	SessionLife = 8 * time.Hour
	// SessionIdle is how long a session lives that nobody uses.
	SessionIdle = 30 * time.Minute
	// SessionRenewal is how old a session may be before its cookie is sent anew. A session may
	// end that much earlier than its last use says.
	SessionRenewal = time.Minute
)
