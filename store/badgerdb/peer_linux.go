package badgerdb

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// samePeer says whether the process at the other end of a socket is of this
// process's user, or the system's administrator.
func samePeer(c net.Conn) error {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return fmt.Errorf("ask who is there: %w", err)
	}
	var cred *unix.Ucred
	var ask error
	err = raw.Control(func(fd uintptr) {
		cred, ask = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = ask
	}
	if err != nil {
		return fmt.Errorf("ask who is there: %w", err)
	}
	if cred.Uid != 0 && int(cred.Uid) != os.Geteuid() {
		return errStranger
	}
	return nil
}
