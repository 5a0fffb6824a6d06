package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/internal/certs"
)

// Broker is a RabbitMQ for policies and timers.
type Broker struct {
	Name string
	// URL is amqp[s]://user:password@host:port/vhost.
	URL       string
	TLS       *tls.Config // nil for amqp
	Heartbeat time.Duration
}

const (
	defaultHeartbeat = 10 * time.Second
	minHeartbeat     = time.Second
	maxHeartbeat     = 5 * time.Minute
)

// brokersFile is the form of the file that WAKECALL_BROKERS names.
type brokersFile struct {
	Brokers []brokerEntry `json:"brokers"`
}

type brokerEntry struct {
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Heartbeat string    `json:"heartbeat"`
	TLS       brokerTLS `json:"tls"`
}

type brokerTLS struct {
	CA          string `json:"ca_file"`
	Certificate string `json:"certificate_file"`
	Key         string `json:"key_file"`
}

// ReadBrokers reads the file with the brokers; "" has none. Its errors contain no URL, because
// that may hold a password.
func ReadBrokers(name string) (found []Broker, err error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var file brokersFile
	if err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf(`%s is not of the form {"brokers": [{"name", "url"}]}`, name)
	}
	seen := map[string]bool{}
	for i, entry := range file.Brokers {
		if entry.Name == "" || seen[entry.Name] {
			return nil, fmt.Errorf("broker %d needs a unique name", i+1)
		}
		seen[entry.Name] = true
		broker, err := entry.broker()
		if err != nil {
			return nil, fmt.Errorf("broker %s: %w", entry.Name, err)
		}
		found = append(found, broker)
	}
	return found, nil
}

func (e brokerEntry) broker() (b Broker, err error) {
	b = Broker{Name: e.Name, Heartbeat: defaultHeartbeat}
	if b.URL, err = expand(e.URL); err != nil {
		return b, err
	}
	scheme, err := checkBroker(b.URL)
	if err != nil {
		return b, err
	}
	if e.Heartbeat != "" {
		b.Heartbeat, err = time.ParseDuration(e.Heartbeat)
		if err != nil || b.Heartbeat < minHeartbeat || b.Heartbeat > maxHeartbeat {
			return b, fmt.Errorf("its heartbeat must be from %s to %s", minHeartbeat, maxHeartbeat)
		}
	}
	switch {
	case scheme == "amqps":
		b.TLS, err = e.TLS.settings()
	case e.TLS != brokerTLS{}: // TLS was requested, so an unencrypted connection would be wrong
		err = errors.New("its tls needs an amqps url")
	}
	return b, err
}

var inBraces = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// expand replaces ${NAME} in a URL by variables of the environment, escaped for a URL. A dollar
// sign without braces stands for itself, because a password may have one.
func expand(text string) (_ string, err error) {
	expanded := inBraces.ReplaceAllStringFunc(text, func(found string) string {
		name := found[len("${") : len(found)-len("}")]
		value, ok := os.LookupEnv(name)
		if !ok && err == nil {
			err = fmt.Errorf("its url names %s, which is not set", name)
		}
		return url.PathEscape(value)
	})
	return expanded, err
}

// checkBroker returns the scheme of a broker's URL, in lower case.
func checkBroker(text string) (scheme string, err error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "amqp" && u.Scheme != "amqps") || u.Hostname() == "" {
		return "", errors.New("its url must be amqp[s]://user:password@host:port/vhost")
	}
	return u.Scheme, nil
}

func (t brokerTLS) settings() (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			return nil, err
		}
		if err := certs.AddBundle(roots, t.CA); err != nil {
			return nil, err
		}
		settings.RootCAs = roots
	}
	if t.Certificate != "" || t.Key != "" {
		pair, err := certs.Pair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate_file and key_file: %w", err)
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	return settings, nil
}
