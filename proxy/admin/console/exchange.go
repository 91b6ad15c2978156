package console

import (
	"errors"
	"net/http"
	"strings"

	"hindsight/proxy/admin"
	"hindsight/proxy/admin/explain"
)

// exchangeOne is the page of one exchange: why it was given what it was given.
type exchangeOne struct {
	admin.Reasons
	Given  []explain.Line
	Others []explain.Line
}

func (c *Console) exchange(v *visit) error {
	p := &exchangeOne{}
	err := v.get("/exchanges"+part(v.r.PathValue("id"))+"/why", nil, &p.Reasons)
	var no *refusal
	if errors.As(err, &no) && no.status == http.StatusNotFound {
		v.page("problem", "exchange.title", no.status, trouble{Headline: v.t("exchange.unsearched")})
		return nil
	}
	if err != nil {
		return err
	}
	// The API tells its story in the language of its caller; the page's is the
	// visitor's, by the same teller.
	p.Story = explain.Tell(&p.Why, v.lang)
	for _, l := range p.Story.Lines {
		if l.Chosen {
			p.Given = append(p.Given, l)
		} else {
			p.Others = append(p.Others, l)
		}
	}
	v.page("exchange", "exchange.title", http.StatusOK, p)
	return nil
}

// findExchange goes to the exchange whose id was pasted.
func (c *Console) findExchange(v *visit) error {
	id := strings.TrimSpace(v.r.URL.Query().Get("id"))
	if id == "" {
		return c.nothing(v)
	}
	http.Redirect(v.w, v.r, "/console/exchanges"+part(id), http.StatusSeeOther)
	return nil
}
