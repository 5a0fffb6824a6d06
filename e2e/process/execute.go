package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Execute runs a program to its end and returns its output. It fails the test if the program
// fails.
func Execute(t testing.TB, program string, args ...string) string {
	t.Helper()
	printed, err := Prepare(t, program, args...)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return printed
}

// Prepare returns a function that runs a program without the tester's personal settings, and
// returns its output.
func Prepare(t testing.TB, program string, args ...string) func(context.Context) (string, error) {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	return func(ctx context.Context) (string, error) {
		command := exec.CommandContext(ctx, program, args...)
		command.Env = env
		var complaints strings.Builder
		command.Stderr = &complaints
		printed, err := command.Output()
		if err != nil {
			return "", fmt.Errorf("%s %v: %w: %s%s", program, args, err, printed, &complaints)
		}
		return string(printed), nil
	}
}
