package badgerdb

import (
	"slices"

	"hindsight/store"
)

// scrubJobs takes out of the jobs at a place what they threw away and what held
// the words.
func (s *Store) scrubJobs(t *tx, at place, g *traces) error {
	type rewritten struct {
		moved
		job store.Job
	}
	var list []rewritten
	for r := range t.rows(join(famJob, at[:]), nil) {
		var j store.Job
		if err := r.into(&j); err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(j.Dropped), func(d store.Dropped) bool {
			return g.in(j.Session, d.Text) || slices.Contains(g.texts, store.Fold(d.Text))
		})
		if len(left) == len(j.Dropped) {
			continue
		}
		j.Dropped = left
		list = append(list, rewritten{r.asIs(), j})
	}
	g.rec.Jobs += len(list)
	for _, x := range list {
		if err := t.put(x.key, x.job, x.meta, x.ttl); err != nil {
			return err
		}
	}
	return nil
}
