package badgerdb

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"

	"hindsight/store"
)

// Jobs lists the jobs in a state, or all of them, the last created first.
func (s *Store) Jobs(ctx context.Context, state store.JobState) ([]store.Job, error) {
	page, err := s.JobPage(ctx, store.JobFilter{State: state})
	return page.Jobs, err
}

// JobPage lists jobs. A page's cursor is the place of its last job, so that what
// is queued or ends meanwhile moves nothing.
func (s *Store) JobPage(ctx context.Context, f store.JobFilter) (store.JobPage, error) {
	page := store.JobPage{Jobs: []store.Job{}, Counts: map[store.JobState]int{}}
	after, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	if err != nil || f.Cursor != "" && len(after) <= 8 {
		return page, wrap("list jobs", fmt.Errorf("%w %q", store.ErrCursor, f.Cursor))
	}
	err = s.view(func(v view) error {
		for r := range v.rows([]byte{famJob}, nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			var j store.Job
			if err := r.into(&j); err != nil {
				return err
			}
			if f.Session != "" && j.Session != f.Session {
				continue
			}
			page.Counts[j.State]++
			if (f.State == "" || j.State == f.State) && bytes.Compare(jobPlace(&j), after) > 0 {
				page.Jobs = append(page.Jobs, j)
			}
		}
		return nil
	})
	slices.SortFunc(page.Jobs, func(a, b store.Job) int { return bytes.Compare(jobPlace(&a), jobPlace(&b)) })
	if f.Limit > 0 && len(page.Jobs) > f.Limit {
		page.Jobs = page.Jobs[:f.Limit]
		page.Next = base64.RawURLEncoding.EncodeToString(jobPlace(&page.Jobs[f.Limit-1]))
	}
	return page, wrap("list jobs", err)
}

// jobPlace sorts jobs, the last created first.
func jobPlace(j *store.Job) []byte { return append(descending(j.Created), j.ID...) }
