package responses

import (
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/slot"
)

// Inserts places the blocks, see [slot.Inserts]; never is there a new item.
func (Dialect) Inserts(req *dialect.Request, blocks []dialect.Block, opt dialect.SpliceOptions) ([]dialect.Insert, error) {
	return slot.Inserts(req, blocks, opt, slot.InputText)
}
