package verbs

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/cmd/program"
	"github.com/wakecall/wakecall/internal/config"
)

// Settings say how to reach Wakecall. The help text is what docs/configuration.md says.
type Settings struct {
	URL    string `env:"WAKECALL_URL" envDefault:"http://127.0.0.1:8080" help:"where the API is"`
	APIKey string `env:"WAKECALL_API_KEY" secret:"true" help:"the key that is sent as a bearer token, if the API asks for one"`
}

// Check implements [config.Settings]. The URL may be overruled by a flag: it is judged
// afterwards.
func (Settings) Check(*config.Faults) {}

// connection is how a command line says where Wakecall is.
type connection struct{ server, key string }

func (n *connection) flags(c *cobra.Command) {
	c.Flags().StringVar(&n.server, "server", "", "where the API is; by default WAKECALL_URL, or http://127.0.0.1:8080")
	c.Flags().StringVar(&n.key, "key", "", "the API key; by default WAKECALL_API_KEY")
}

// settings are those that the flags and the environment name.
func (n *connection) settings() (settings Settings, err error) {
	if err = config.ReadClient(&settings); err != nil {
		return settings, program.Wrong(err)
	}
	if n.key != "" {
		settings.APIKey = n.key
	}
	source := "WAKECALL_URL"
	if n.server != "" {
		settings.URL, source = n.server, "--server"
	}
	if u, err := url.Parse(settings.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return settings, program.Wrong(fmt.Errorf("%s must be a URL such as http://127.0.0.1:8080, and %q is none", source, settings.URL))
	}
	return settings, nil
}

// client calls the Wakecall that the flags and the environment name.
func (n *connection) client() (*client.Client, error) {
	settings, err := n.settings()
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: settings.URL, Key: settings.APIKey}), nil
}
