package failover

import (
	"os"
	"testing"

	"github.com/wakecall/wakecall/e2e/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
