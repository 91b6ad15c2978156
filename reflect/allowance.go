package hreflect

// allowance is how many model calls one job may make: twice the pieces of
// Config.Tokens that its new tokens fill. The first call of each part comes out
// of it, and what is left is shared by focused retries and by the questions
// about neighbours.
type allowance struct{ left int }

// allowed is the allowance for so many new tokens, in pieces of size tokens.
func allowed(fresh, size int) *allowance {
	return &allowance{left: 2 * max(1, (fresh+size-1)/size)}
}

// noCallLeft is why a job asks nothing more.
const noCallLeft = "the job has made its calls"

// keep takes n calls out for the first questions that are to come; what is
// already spent can't be kept.
func (a *allowance) keep(n int) { a.left = max(0, a.left-n) }

// take asks for one call more.
func (a *allowance) take() bool {
	if a.left == 0 {
		return false
	}
	a.left--
	return true
}
