//go:build race

package temporal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/wakecall/wakecall/e2e/process"
)

// Start starts a Temporal with few shards. It ends with the test, whose pipe it reads.
func Start(s Settings) (stop func(), err error) {
	path, err := process.TemporalBeside()
	if err != nil {
		return nil, err
	}
	command := exec.Command(path)
	command.Stderr = os.Stderr
	stdin, failed := command.StdinPipe()
	stdout, alsoFailed := command.StdoutPipe()
	if err := errors.Join(failed, alsoFailed, command.Start()); err != nil {
		return nil, err
	}
	stop = func() {
		_ = stdin.Close()
		_ = command.Wait()
	}
	if err := await(stdin, stdout, s); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// await sends the settings, and waits for the line that says that Temporal has started.
func await(stdin io.Writer, stdout io.Reader, s Settings) error {
	if err := json.NewEncoder(stdin).Encode(s); err != nil {
		return err
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return fmt.Errorf("the Temporal beside the test has not started: %w", err)
	}
	return nil
}
