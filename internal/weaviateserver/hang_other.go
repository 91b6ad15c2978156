//go:build !unix

package weaviateserver

import "errors"

// Hang would stop the server in its tracks: there is no signal for it here.
func (s *Server) Hang() error { return errors.ErrUnsupported }

// Continue would undo Hang.
func (s *Server) Continue() error { return errors.ErrUnsupported }
