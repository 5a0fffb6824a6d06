package process

import "os"

// Long reports whether tests run as long as they do at night, and not as short as in the gate.
func Long() bool { return os.Getenv("WAKECALL_FAULT") == "long" }
