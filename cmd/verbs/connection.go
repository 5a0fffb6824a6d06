package verbs

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/config"
)

// Settings locate Wakecall. docs/configuration.md repeats the help texts.
type Settings struct {
	URL    string `env:"WAKECALL_URL" envDefault:"http://127.0.0.1:8080" help:"where the API is"`
	APIKey string `env:"WAKECALL_API_KEY" secret:"true" help:"the key that is sent as a bearer token, if the API asks for one"`
}

// Check implements [config.Settings]. A flag may override the URL, so it is checked later.
func (Settings) Check(*config.Faults) {}

// connection holds the flags that locate Wakecall.
type connection struct{ server, key string }

func (n *connection) flags(c *cobra.Command) {
	c.Flags().StringVar(&n.server, "server", "", "where the API is; by default WAKECALL_URL, or http://127.0.0.1:8080")
	c.Flags().StringVar(&n.key, "key", "", "the API key; by default WAKECALL_API_KEY")
}

// settings returns the settings of the flags and the environment.
func (n *connection) settings() (settings Settings, err error) {
	if err = config.ReadClient(&settings); err != nil {
		return settings, program.Wrong(err)
	}
	if n.key != "" {
		settings.APIKey = n.key
	}
	if strings.ContainsFunc(settings.APIKey, unicode.IsControl) { // else it looks as if no server were there
		return settings, program.Wrong(errors.New("the API key must be one line without control characters"))
	}
	source := "WAKECALL_URL"
	if n.server != "" {
		settings.URL, source = n.server, "--server"
	}
	if u, err := url.Parse(settings.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return settings, program.Wrong(fmt.Errorf("%s must be a URL such as http://127.0.0.1:8080, not %q", source, settings.URL))
	}
	return settings, nil
}

// client returns a client with the settings of the flags and the environment.
func (n *connection) client() (*client.Client, error) {
	settings, err := n.settings()
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: settings.URL, Key: settings.APIKey}), nil
}
