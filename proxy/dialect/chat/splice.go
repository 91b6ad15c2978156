package chat

import (
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/slot"
)

// Inserts places the blocks, see [slot.Inserts].
func (Dialect) Inserts(req *dialect.Request, blocks []dialect.Block, opt dialect.SpliceOptions) ([]dialect.Insert, error) {
	return slot.Inserts(req, blocks, opt, slot.Text)
}
