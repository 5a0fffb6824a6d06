// Command beside runs a Temporal for the test that started it, until its standard input ends.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/wakecall/wakecall/e2e/temporal"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var settings temporal.Settings
	if err := json.NewDecoder(os.Stdin).Decode(&settings); err != nil {
		return err
	}
	stop, err := temporal.Start(settings)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Println("started")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
