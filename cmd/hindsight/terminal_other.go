//go:build !unix

package main

import (
	"errors"
	"os"
)

// columns is unknown here: nothing is cut to fit.
func columns(*os.File) int { return 0 }

// freeSpace is unknown here.
func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }

// openFiles is not known here.
func openFiles() uint64 { return 0 }

// private does nothing here: there are no modes.
func private() {}
