package httpsend

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// zone is the parent of every name of the test.
const zone = ".hostile.test"

// nameServer answers by the first label of a name, over connections that never
// leave the process.
type nameServer struct {
	mu    sync.Mutex
	asked map[string]int
	// hung are the connections of queries that are not answered; gone says that none waits.
	hung []net.Conn
	gone bool
}

var names = &nameServer{asked: map[string]int{}}

// records are the addresses behind each name, in the order in which the n-th
// query (from 0) gets them.
var records = map[string]func(n int) []string{
	"good":      always("127.0.0.1"),
	"two":       always(forbidden4, "127.0.0.1"),
	"dual":      always(forbidden6, "127.0.0.1"),
	"rebind":    func(n int) []string { return [][]string{{"127.0.0.1"}, {forbidden4}}[n%2] },
	"loopback":  always(forbidden4),
	"six":       always(forbidden6),
	"mapped":    always("::ffff:" + forbidden4),
	"nat64":     always("64:ff9b::7f00:2"),
	"sixtofour": always("2002:7f00:2::"),
	"any":       always("0.0.0.0"),
	"any6":      always("::"),
	"private":   always("10.0.0.1"),
	"metadata":  always("169.254.169.254"),
	"cloud":     always("168.63.129.16"),
	"flood":     func(int) []string { return slicesOf(forbidden4, 2000) },
}

func always(addresses ...string) func(int) []string {
	return func(int) []string { return addresses }
}

func slicesOf(address string, n int) []string {
	return strings.Split(strings.Repeat(address+" ", n-1)+address, " ")
}

// dial replaces the connection to any name server.
func (s *nameServer) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go s.serve(far)
	return near, nil
}

// serve speaks DNS as over TCP (RFC 1035, section 4.2.2), until the other side hangs up.
func (s *nameServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		query := make([]byte, size)
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		answer, ok := s.answer(query)
		if !ok { // and the other side waits
			if !s.hang(conn) {
				return
			}
			continue
		}
		framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)
		if _, err := conn.Write(framed); err != nil {
			return
		}
	}
}

func (s *nameServer) hang(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hung = append(s.hung, conn)
	return !s.gone
}

// hangFor leaves queries unanswered until a test has ended: a resolver waits for longer.
func (s *nameServer) hangFor(t *testing.T) {
	s.setGone(false)
	t.Cleanup(func() { s.setGone(true) })
}

func (s *nameServer) setGone(gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = gone
	for _, conn := range s.hung {
		_ = conn.Close()
	}
	s.hung = nil
}

func (s *nameServer) answer(query []byte) ([]byte, bool) {
	var message dnsmessage.Message
	if message.Unpack(query) != nil || len(message.Questions) != 1 {
		return nil, false
	}
	question := message.Questions[0]
	label, rest, _ := strings.Cut(question.Name.String(), ".")
	message.Response, message.RecursionAvailable, message.Additionals = true, true, nil
	message.RCode = dnsmessage.RCodeNameError
	n := s.count(label, question.Type)
	switch addresses, known := records[label]; {
	case !strings.HasPrefix("."+rest, zone):
	case label == "hang":
		return nil, false
	case label == "garbage":
		return append(query[:2:2], "\xff\xff\xff\xffthis is no DNS"...), true
	case label == "servfail":
		message.RCode = dnsmessage.RCodeServerFailure
	case label == "loop":
		message.RCode = dnsmessage.RCodeSuccess
		message.Answers = []dnsmessage.Resource{{
			Header: headerOf(question), Body: &dnsmessage.CNAMEResource{CNAME: question.Name},
		}}
	case known:
		message.RCode = dnsmessage.RCodeSuccess
		message.Answers = resources(question, addresses(n))
	}
	packed, err := message.Pack()
	return packed, err == nil
}

// count returns the number of earlier queries.
func (s *nameServer) count(label string, kind dnsmessage.Type) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := label + kind.String()
	s.asked[key]++
	return s.asked[key] - 1
}

func headerOf(question dnsmessage.Question) dnsmessage.ResourceHeader {
	return dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class}
}

// resources are the addresses of the queried family.
func resources(question dnsmessage.Question, addresses []string) (found []dnsmessage.Resource) {
	for _, text := range addresses {
		address := netip.MustParseAddr(text)
		switch {
		case question.Type == dnsmessage.TypeA && address.Is4():
			found = append(found, dnsmessage.Resource{Header: headerOf(question), Body: &dnsmessage.AResource{A: address.As4()}})
		case question.Type == dnsmessage.TypeAAAA && address.Is6():
			found = append(found, dnsmessage.Resource{Header: headerOf(question), Body: &dnsmessage.AAAAResource{AAAA: address.As16()}})
		}
	}
	return found
}
