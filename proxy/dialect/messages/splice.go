package messages

import (
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/slot"
)

// Inserts places the blocks, see [slot.Inserts]. Anthropic refuses anything in
// front of a tool result.
func (Dialect) Inserts(req *dialect.Request, blocks []dialect.Block, opt dialect.SpliceOptions) ([]dialect.Insert, error) {
	return slot.Inserts(req, blocks, opt, slot.Text)
}
