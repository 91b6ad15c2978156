package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Way is how long the chunks of a stream take to one target, over the rounds.
type Way struct {
	Target string `json:"target"`
	Chunks int    `json:"chunks"`
	P50    Spread `json:"p50_ms"`
	// Added is the median of the differences between a chunk's way to this
	// target and the same chunk's way in the direct stream beside it.
	Added Spread `json:"added_paired_median_ms"`
	P99   Spread `json:"p99_ms"`
}

// Streams measures a chunk's way through: streams of so many events, pace
// apart, one after the other and by turns to every target; the first is the
// direct one. The upstream writes into each event when it was sent.
func Streams(ctx context.Context, targets []Target, rounds, streams, events int, pace time.Duration, doing func(format string, args ...any)) ([]Way, error) {
	type figures struct{ p50, p99, added []float64 }
	all := make([]figures, len(targets))
	conns := make([]*conn, len(targets))
	for i, t := range targets {
		c, err := dial(ctx, t, Events(events, pace))
		if err != nil {
			return nil, err
		}
		conns[i] = c
	}
	defer func() {
		for _, c := range conns {
			if c != nil {
				c.close()
			}
		}
	}()
	next := Streaming()
	for round := range rounds {
		doing("round %d of %d: a chunk's way", round+1, rounds)
		ways := make([][]time.Duration, len(targets))
		for s := range streams {
			for i, c := range conns {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				body := next((round*streams+s)*len(targets)+i, nil)
				took, err := c.stream(body)
				if err != nil { // see part.drive
					c.close()
					if conns[i], err = dial(ctx, targets[i], Events(events, pace)); err != nil {
						return nil, err
					}
					took, err = conns[i].stream(body)
				}
				if err != nil {
					return nil, fmt.Errorf("stream from %s: %w", targets[i].Name, err)
				}
				if len(took) != events {
					return nil, fmt.Errorf("stream from %s: %d events, want %d", targets[i].Name, len(took), events)
				}
				ways[i] = append(ways[i], took...)
			}
		}
		for i, way := range ways {
			added := make([]time.Duration, len(way))
			for j := range way {
				added[j] = way[j] - ways[0][j]
			}
			slices.Sort(added)
			way = slices.Sorted(slices.Values(way))
			f := &all[i]
			f.p50 = append(f.p50, ms(way[len(way)/2]))
			f.p99 = append(f.p99, ms(way[len(way)*99/100]))
			f.added = append(f.added, ms(added[len(added)/2]))
		}
	}
	var out []Way
	for i, f := range all {
		out = append(out, Way{Target: targets[i].Name, Chunks: rounds * streams * events, P50: SpreadOf(f.p50), Added: SpreadOf(f.added), P99: SpreadOf(f.p99)})
	}
	return out, nil
}

// stream asks for a stream and returns how long each event was under way.
func (c *conn) stream(body []byte) ([]time.Duration, error) {
	resp, err := c.send(body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	var took []time.Duration
	br := bufio.NewReader(resp.Body)
	for {
		line, err := br.ReadSlice('\n')
		now := time.Now().UnixNano()
		if _, sent, ok := bytes.Cut(line, []byte(`"sent":`)); ok {
			at, _ := strconv.ParseInt(string(bytes.TrimSuffix(sent, []byte("}\n"))), 10, 64) // zero shows
			took = append(took, time.Duration(now-at))
		}
		if err == io.EOF {
			return took, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
