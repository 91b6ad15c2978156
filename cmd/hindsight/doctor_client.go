package main

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// checkClient says which base URL applications need, and whether the proxy
// answers there, and how its memory is.
func checkClient(ctx context.Context, cfg Config) check {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	base := clientBase(cfg)
	c := check{"client", checkOK, "applications use " + base + "/v1 as their base URL (OPENAI_BASE_URL)", ""}
	state, err := askHealth(ctx, base)
	var dial *net.OpError
	var other notOurs
	switch {
	case errors.As(err, &other):
		c.Result, c.Next = checkWarn, fmt.Sprintf("What listens there isn't Hindsight (status %d); choose another port with HINDSIGHT_LISTEN.", other.status)
	case errors.As(err, &dial):
		c.Found += "; nothing listens there now"
		c.Next = "Start it with: hindsight serve"
	case err != nil:
		c.Result, c.Next = checkWarn, fmt.Sprintf("What listens there doesn't answer (%v); is it Hindsight?", err)
	case !state.Ready:
		c.Result, c.Next = checkWarn, "Hindsight there is starting or stopping; try again."
	case state.Memory == "on":
		c.Found += "; Hindsight answers there, memory is on"
	default:
		c.Result = checkWarn
		c.Found += fmt.Sprintf("; Hindsight answers there, memory is %s (%s)", state.Memory, state.Reason)
		c.Next = "Mend what the reason names; requests are forwarded meanwhile."
	}
	return c
}
