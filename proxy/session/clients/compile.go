package clients

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// element is a compiled tag.
type element struct {
	do          string
	block, only bool
	apps        []string
}

// elements are the known tags.
type elements struct {
	exact    map[string]element
	prefixes []prefixElement
}

type prefixElement struct {
	prefix string
	element
}

// find looks a tag's name up.
func (e elements) find(tag, app string) (element, bool) {
	el, ok := e.exact[tag]
	if !ok {
		for _, p := range e.prefixes {
			if strings.HasPrefix(tag, p.prefix) {
				el, ok = p.element, true
				break
			}
		}
	}
	return el, ok && appFits(el.apps, app)
}

type template struct {
	begin           pattern
	from, to, third string
	apps            []string
}

type suffix struct {
	text string
	apps []string
}

type beginning struct {
	pattern
	with                            []string
	third, whole, opening, examples bool
	apps                            []string
}

// addWrapper compiles one entry into the list of its kind.
func (r *Rules) addWrapper(w Wrapper) error {
	kinds := 0
	for _, s := range []string{w.Tag, w.Begin, w.Suffix, w.NotHuman} {
		if s != "" {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("needs exactly one of tag, begin, suffix and not_human")
	}
	if err := w.checkFlags(); err != nil {
		return err
	}
	switch {
	case w.Tag != "":
		name, wild := strings.CutSuffix(w.Tag, "*")
		if tagName(name) != len(name) || name == "" {
			return fmt.Errorf("tag %q is no element name", w.Tag)
		}
		el := element{do: orDefault(w.Do, Drop), block: w.Block, only: w.Only, apps: w.Apps}
		if wild {
			r.elements.prefixes = append(r.elements.prefixes, prefixElement{name, el})
		} else {
			r.elements.exact[name] = el
		}
	case w.Begin != "":
		r.templates = append(r.templates, template{begin: newPattern(w.Begin), from: w.From, to: w.To, third: w.Third, apps: w.Apps})
	case w.Suffix != "":
		r.suffixes = append(r.suffixes, suffix{text: w.Suffix, apps: w.Apps})
	default:
		r.beginnings = append(r.beginnings, beginning{
			pattern: newPattern(w.NotHuman), with: w.With, third: w.Do != Drop,
			whole: w.Whole, opening: w.Opening, examples: w.Examples, apps: w.Apps,
		})
	}
	return nil
}

// checkFlags refuses fields that mean nothing for the entry's kind, since a
// field that is silently ignored hides a mistake.
func (w Wrapper) checkFlags() error {
	var may []string
	switch {
	case w.Tag != "":
		may = []string{Drop, ThirdParty, Unwrap, Keep}
	case w.NotHuman != "":
		may = []string{Drop, ThirdParty}
	}
	switch {
	case w.Do != "" && !slices.Contains(may, w.Do):
		return fmt.Errorf("do %q is none of [%s]", w.Do, strings.Join(may, " "))
	case w.Tag == "" && w.Block:
		return errors.New("block is for tags")
	case w.Only && w.Do != Unwrap:
		return errors.New("only is for tags to unwrap")
	case w.Begin == "" && w.From+w.To+w.Third != "":
		return errors.New("from, to and third are for begin")
	case w.NotHuman == "" && (w.Whole || w.Opening || w.Examples || len(w.With) > 0):
		return errors.New("with, whole, opening and examples are for not_human")
	case blank(w.name()):
		return errors.New("is blank")
	}
	return nil
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func blank(s string) bool { return strings.TrimSpace(strings.ReplaceAll(s, gap, "")) == "" }

// appFits says whether an entry for these apps counts for app.
func appFits(apps []string, app string) bool {
	if len(apps) == 0 {
		return true
	}
	app = strings.ToLower(app)
	return slices.ContainsFunc(apps, func(a string) bool { return strings.HasPrefix(app, strings.ToLower(a)) })
}
