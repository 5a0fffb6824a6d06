package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Broker is a RabbitMQ that policies and timers may name.
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
	Name      string `json:"name"`
	URL       string `json:"url"`
	Heartbeat string `json:"heartbeat"`
	TLS       struct {
		CA          string `json:"ca_file"`
		Certificate string `json:"certificate_file"`
		Key         string `json:"key_file"`
	} `json:"tls"`
}

// ReadBrokers reads the file that names the brokers; "" names none. Its errors tell no
// URL, in which there may be a password.
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
			return nil, fmt.Errorf("broker %d needs a name of its own", i+1)
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
	if err := checkBroker(b.URL); err != nil {
		return b, err
	}
	if e.Heartbeat != "" {
		b.Heartbeat, err = time.ParseDuration(e.Heartbeat)
		if err != nil || b.Heartbeat < minHeartbeat || b.Heartbeat > maxHeartbeat {
			return b, fmt.Errorf("its heartbeat must be from %s to %s", minHeartbeat, maxHeartbeat)
		}
	}
	if strings.HasPrefix(b.URL, "amqps:") {
		b.TLS, err = brokerTLS(e.TLS.CA, e.TLS.Certificate, e.TLS.Key)
	}
	return b, err
}

// expand puts variables of the environment, ${NAME}, into a URL, escaped as its parts
// have to be.
func expand(text string) (_ string, err error) {
	expanded := os.Expand(text, func(name string) string {
		value, ok := os.LookupEnv(name)
		if !ok && err == nil {
			err = fmt.Errorf("its url names %s, which is not set", name)
		}
		return url.PathEscape(value)
	})
	return expanded, err
}

func checkBroker(text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "amqp" && u.Scheme != "amqps") || u.Hostname() == "" {
		return errors.New("its url must be amqp[s]://user:password@host:port/vhost")
	}
	return nil
}

func brokerTLS(ca, certificate, key string) (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			return nil, err
		}
		bundle, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		if !roots.AppendCertsFromPEM(bundle) {
			return nil, fmt.Errorf("%s has no certificate in PEM", ca)
		}
		settings.RootCAs = roots
	}
	if certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("certificate_file and key_file: %w", err)
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	return settings, nil
}
