package process

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/stretchr/testify/require"
)

// SetClock puts the wall clock of a running process ahead by a span, or behind by a negative
// one, of whole seconds. Like a real step of a clock it leaves the monotonic clock alone.
//
// Go's runtime asks the kernel for the time through a pointer. SetClock points it to a few
// instructions of ours, which ask the kernel and add the span. They overwrite a runtime
// function that only a panic needs. This works on Linux on amd64, with an unstripped program.
func (p *Process) SetClock(ahead time.Duration) {
	p.t.Helper()
	p.Freeze()
	defer p.Thaw()
	require.NoError(p.t, setClock(p.PID(), int64(ahead/time.Second)))
}

const (
	clockPointer = "runtime.vdsoClockgettimeSym"
	spareRoom    = "runtime.printpanicval"
)

// mark distinguishes our instructions, including the span before them, from the function
// that they overwrite.
var mark = []byte("\x90CLOCK\x90\x90")

func setClock(pid int, seconds int64) error {
	pointer, room, err := places(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return err
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = memory.Close() }()
	found := make([]byte, len(mark))
	if _, err := memory.ReadAt(found, room); err != nil {
		return err
	}
	span := binary.LittleEndian.AppendUint64(nil, uint64(seconds))
	if bytes.Equal(found, mark) {
		_, err := memory.WriteAt(span, room+int64(len(mark)))
		return err
	}
	kernel := make([]byte, 8)
	if _, err := memory.ReadAt(kernel, pointer); err != nil {
		return err
	}
	begin := room + int64(len(mark)+len(span))
	text := append(append(bytes.Clone(mark), span...), instructions(kernel, begin-int64(len(span)))...)
	if _, err := memory.WriteAt(text, room); err != nil {
		return err
	}
	_, err = memory.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(begin)), pointer)
	return err
}

// places are the addresses of the pointer and of the room.
func places(path string) (pointer, room int64, err error) {
	program, err := elf.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = program.Close() }()
	symbols, err := program.Symbols()
	if err != nil {
		return 0, 0, err
	}
	for _, symbol := range symbols {
		switch symbol.Name {
		case clockPointer:
			pointer = int64(symbol.Value)
		case spareRoom:
			room = int64(symbol.Value+15) &^ 15
		}
	}
	if program.Type != elf.ET_EXEC || pointer == 0 || room == 0 {
		return 0, 0, fmt.Errorf("%s does not show where its clock is", path)
	}
	return pointer, room, nil
}

// instructions are clock_gettime(clock, *timespec) for all clocks: ask the kernel, and add
// the span to the seconds of the wall clock.
func instructions(kernel []byte, span int64) []byte {
	return bytes.Join([][]byte{
		{0x57, 0x56, 0x48, 0x83, 0xec, 0x08}, // push rdi; push rsi; sub rsp, 8
		{0x48, 0xb8}, kernel, {0xff, 0xd0},   // mov rax, kernel; call rax
		{0x48, 0x83, 0xc4, 0x08, 0x5e, 0x5f},                              // add rsp, 8; pop rsi; pop rdi
		{0x85, 0xff, 0x75, 0x10},                                          // test edi, edi; jne past the sum
		{0x49, 0xb8}, binary.LittleEndian.AppendUint64(nil, uint64(span)), // mov r8, &span
		{0x4d, 0x8b, 0x08, 0x4c, 0x01, 0x0e}, // mov r9, [r8]; add [rsi], r9
		{0x31, 0xc0, 0xc3},                   // xor eax, eax; ret
	}, nil)
}
