//go:build !unix

package proxy

import "net"

// alive can't be asked here: the next request tells.
func alive(net.Conn) bool { return true }
