package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/policy"
)

// Files names the files of a listener's TLS.
type Files struct {
	// Certificate holds the listener's certificate, followed by its chain.
	Certificate, Key string
	// ClientCA may be empty: clients are then not asked for certificates.
	ClientCA string
}

// Server is the TLS of a listener.
type Server struct {
	files  Files
	logger *slog.Logger

	mu sync.Mutex
	// seen is the state of the files at the last read, and current the last valid configuration.
	seen    state
	current *tls.Config
}

// state detects changes of files.
type state [3]stamp

type stamp struct {
	info os.FileInfo
	size int64
	at   time.Time
}

func (s stamp) equal(other stamp) bool {
	return s.size == other.size && s.at.Equal(other.at) && (s.info == nil) == (other.info == nil) &&
		(s.info == nil || os.SameFile(s.info, other.info))
}

// New reads the files. Each must be valid.
func New(files Files, logger *slog.Logger) (*Server, error) {
	s := &Server{files: files, logger: logger, seen: files.state()}
	var err error
	if s.current, err = files.read(); err == nil {
		s.checkTime()
	}
	return s, err
}

// Config returns the configuration of a listener. A client without a certificate is admitted,
// because it may authenticate in another way. A client's certificate must be signed by one of
// the authorities.
func (s *Server) Config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.latest(), nil },
	}
}

// latest returns the configuration of the files, or the last valid one: a certificate may be
// renewed before its key. It refuses to resume sessions of an earlier configuration, because
// each has its own ticket keys.
func (s *Server) latest() *tls.Config {
	now := s.files.state()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.equal(s.seen) {
		return s.current
	}
	s.seen = now
	read, err := s.files.read()
	if err != nil {
		s.logger.Warn("the TLS files changed and are not valid: the former ones stay in use", "error", err)
		return s.current
	}
	s.logger.Info("the TLS files were reloaded")
	s.current = read
	s.checkTime()
	return read
}

// checkTime warns of a certificate that clients refuse. It is used all the same: its time is no fault of
// the files, and the clock may be wrong.
func (s *Server) checkTime() {
	now, shown := time.Now(), s.current.Certificates[0].Leaf
	if now.After(shown.NotAfter) || now.Before(shown.NotBefore) {
		s.logger.Warn("clients refuse the TLS certificate: it is not valid now", "from", shown.NotBefore, "until", shown.NotAfter)
	}
}

func (s state) equal(other state) bool {
	for i := range s {
		if !s[i].equal(other[i]) {
			return false
		}
	}
	return true
}

// state follows links: a mount of secrets changes their targets.
func (f Files) state() (now state) {
	for i, name := range [...]string{f.Certificate, f.Key, f.ClientCA} {
		if info, err := os.Stat(name); err == nil {
			now[i] = stamp{info, info.Size(), info.ModTime()}
		}
	}
	return now
}

func (f Files) read() (*tls.Config, error) {
	pair, err := Pair(f.Certificate, f.Key)
	if err != nil {
		return nil, err
	}
	// The gateway checks the framing of requests, which it supports for HTTP/1.1 only.
	read := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}
	if f.ClientCA == "" {
		return read, nil
	}
	read.ClientCAs, read.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	return read, AddBundle(read.ClientCAs, f.ClientCA)
}

// Pair reads a certificate with its chain, and its key. The chain must be whole.
func Pair(certificate, key string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return pair, err
	}
	text, err := os.ReadFile(certificate)
	if err != nil {
		return pair, err
	}
	if _, err := policy.Blocks(text); err != nil {
		return pair, fmt.Errorf("%s %w", certificate, err)
	}
	return pair, nil
}

// AddBundle adds the certificates of a file in PEM to a pool. Every one must be valid.
func AddBundle(pool *x509.CertPool, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	found, err := policy.Certificates(text)
	if err != nil {
		return fmt.Errorf("%s %w", file, err)
	}
	for _, certificate := range found {
		pool.AddCert(certificate)
	}
	return nil
}
