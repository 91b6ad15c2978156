package badgerdb

import (
	"fmt"
	"log/slog"
	"strings"
)

// badgerLog passes Badger's messages on. What it calls information is of use
// for debugging only.
type badgerLog struct{ log *slog.Logger }

func (l badgerLog) Errorf(f string, a ...any)   { l.log.Error("badger", "msg", line(f, a)) }
func (l badgerLog) Warningf(f string, a ...any) { l.log.Warn("badger", "msg", line(f, a)) }
func (l badgerLog) Infof(f string, a ...any)    { l.log.Debug("badger", "msg", line(f, a)) }
func (l badgerLog) Debugf(string, ...any)       {} // prints keys

func line(f string, a []any) string { return strings.TrimSpace(fmt.Sprintf(f, a...)) }
