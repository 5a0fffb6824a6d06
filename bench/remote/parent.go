package remote

import (
	"context"
	"errors"
	"io"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/subject"
)

// Command is the argument that makes this program the child.
const Command = "subject"

// Parent is the calling side.
type Parent struct {
	Started
	command *exec.Cmd
	client  *rpc.Client
}

// closeTime is how long a child may take to end.
const closeTime = 30 * time.Second

// Start runs a child with a subject.
func Start(ctx context.Context, args StartArgs) (*Parent, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program, Command)
	command.Stderr = os.Stderr
	command.WaitDelay = closeTime
	// A killed parent takes its children with it.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if args.Disk && os.Geteuid() == 0 {
		// The disk is mounted for the child and its processes alone, and goes with them.
		command.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	pipe, err := pipeTo(command)
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Parent{command: command, client: rpc.NewClientWithCodec(jsonrpc.NewClientCodec(pipe))}
	if err := p.call("Start", args, &p.Started); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Parent) call(method string, args, reply any) error {
	return p.client.Call(service+"."+method, args, reply)
}

// Run makes the load of a plan.
func (p *Parent) Run(plan scenario.Plan) (booked Booked, err error) {
	err = p.call("Run", plan, &booked)
	return booked, err
}

// Spent returns the usage since the last Run began.
func (p *Parent) Spent(some []subject.Timer) (spent Spent, err error) {
	err = p.call("Spent", some, &spent)
	return spent, err
}

// Close ends the child and waits for it.
func (p *Parent) Close() error {
	return errors.Join(p.client.Close(), p.command.Wait())
}

// duplex joins two one-way pipes.
type duplex struct {
	io.Reader
	io.WriteCloser
}

func pipeTo(command *exec.Cmd) (io.ReadWriteCloser, error) {
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	return duplex{out, in}, err
}

// Standard is the child's end of the pipe. From now on, all other writes to standard output
// go to standard error.
func Standard() io.ReadWriteCloser {
	pipe := duplex{os.Stdin, os.Stdout}
	os.Stdout = os.Stderr
	return pipe
}
