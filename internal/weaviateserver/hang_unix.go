//go:build unix

package weaviateserver

import "syscall"

// Hang stops the server in its tracks: connections stay open and nothing answers.
func (s *Server) Hang() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue undoes Hang.
func (s *Server) Continue() error { return s.cmd.Process.Signal(syscall.SIGCONT) }
