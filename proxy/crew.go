package proxy

import (
	"sync"

	"hindsight/proxy/watch"
)

// idleHands is how many goroutines of a crew wait for work at most.
const idleHands = 64

// crew runs short jobs of the request path, each at once and in a goroutine of
// its own, and keeps some of these for the next jobs: their stacks have grown
// already, which is a good part of what a goroutine costs here.
type crew struct {
	jobs chan func()
	quit chan struct{}
	idle chan struct{} // a token for each goroutine that waits
	busy sync.WaitGroup
}

func newCrew() *crew {
	return &crew{jobs: make(chan func()), quit: make(chan struct{}), idle: make(chan struct{}, idleHands)}
}

// do runs job concurrently and returns at once.
func (c *crew) do(job func()) {
	c.busy.Add(1)
	select {
	case c.jobs <- job:
	default:
		go c.hand(job)
	}
}

// after does job once the connection's answer is on its way, see [watch.Conn.After].
func (c *crew) after(conn *watch.Conn, job func()) {
	c.busy.Add(1)
	conn.After(func() {
		defer c.busy.Done()
		job()
	})
}

func (c *crew) hand(job func()) {
	for {
		job()
		c.busy.Done()
		select {
		case c.idle <- struct{}{}:
		default:
			return // enough others wait
		}
		select {
		case job = <-c.jobs:
			<-c.idle
		case <-c.quit:
			return
		}
	}
}

// stop waits for every job and sends the goroutines home. No do may follow.
func (c *crew) stop() {
	c.busy.Wait()
	close(c.quit)
}
