// Package processid names a process so that another one on the same machine can tell whether it
// has ended. Start at [New] and [Ended].
package processid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// form is that of an id: the place, the PID, and a random part.
var form = regexp.MustCompile(`^wakecall-([0-9a-f]{12})-([1-9][0-9]{0,9})-[0-9a-f]{8}$`)

// nowhere stands for a place that cannot be told, as outside of Linux.
const nowhere = "000000000000"

// nothing is the signal that only asks whether a process can be signalled (kill(2)).
const nothing = syscall.Signal(0)

// New returns an id of this process, as in wakecall-9f86d081884c-4711-1b4e28ba. No other process
// has it, at any time.
func New() string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails (crypto/rand)
	return fmt.Sprintf("wakecall-%s-%d-%x", place(), os.Getpid(), random)
}

// Valid reports whether a text has the form of an id.
func Valid(id string) bool { return form.MatchString(id) }

// Ended reports whether the process of an id has certainly ended: it ran in the place of this
// one, where no process has its PID. Of a process elsewhere nothing is known, and a PID may belong
// to another process by now.
func Ended(id string) bool {
	parts := form.FindStringSubmatch(id)
	if parts == nil || parts[1] == nowhere || parts[1] != place() {
		return false
	}
	pid, err := strconv.Atoi(parts[2])
	return err == nil && !runs(pid)
}

// runs reports whether a process has a PID. One of another user cannot be signalled, and runs.
func runs(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return true // it cannot be told
	}
	defer func() { _ = process.Release() }() // it is another process's
	return !errors.Is(process.Signal(nothing), os.ErrProcessDone)
}

// place is a digest of the kernel's start and of the PID namespace. Two processes that run at the
// same time have the same one only if each sees the PID of the other: no two namespaces of one
// kernel have the same inode at a time (namespaces(7)).
var place = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nowhere
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nowhere
	}
	host, _ := os.Hostname() // clones of a virtual machine have the same boot id
	digest := sha256.Sum256([]byte(strings.Join([]string{string(boot), namespace, host}, "\n")))
	return hex.EncodeToString(digest[:6])
})
