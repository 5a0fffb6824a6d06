package answers

import "fmt"

// Recover makes the error of the function that defers it of its panic.
func Recover(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
	}
}
