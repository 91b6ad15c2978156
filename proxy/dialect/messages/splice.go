package messages

import (
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/chat"
)

// Inserts places the blocks, see [dialect.Dialect]. Strings and text parts look
// as they do in chat completions, so a block goes in by the same rules: first
// in a string, and in an array as a part of its own directly before the first
// text part behind the last tool result. Anthropic refuses anything in front of
// a tool result.
func (Dialect) Inserts(req *dialect.Request, blocks []dialect.Block, opt dialect.SpliceOptions) ([]dialect.Insert, error) {
	return chat.Dialect{}.Inserts(req, blocks, opt)
}
