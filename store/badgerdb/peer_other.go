//go:build !linux && !darwin

package badgerdb

import "net"

// samePeer relies on the socket's directory, which is open to its owner alone.
func samePeer(net.Conn) error { return nil }
