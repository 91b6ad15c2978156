package soak

import (
	"strings"

	"hindsight/internal/mutant"
)

// Leak is a change by which every hundredth request leaves a goroutine behind.
func Leak() []mutant.Edit {
	return []mutant.Edit{
		{File: "proxy/handle.go", Old: "import (\n", New: "import (\n\t\"sync/atomic\"\n"},
		{
			File: "proxy/handle.go", Old: "func (s *Server) handle(c *fasthttp.RequestCtx) {\n",
			New: "var handled atomic.Int64\n\nfunc (s *Server) handle(c *fasthttp.RequestCtx) {\n\tif handled.Add(1)%100 == 0 {\n\t\tgo func() { select {} }()\n\t}\n",
		},
	}
}

// Found says whether a report names the leak.
func Found(rep *Report) bool {
	for _, f := range rep.Faults {
		if strings.HasPrefix(f, "goroutines grow") {
			return true
		}
	}
	return false
}
