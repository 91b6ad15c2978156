package index

import (
	"os"
	"testing"

	"hindsight/internal/innerloop"
)

func TestMain(m *testing.M) { os.Exit(innerloop.Tests{M: m}.Run()) }
