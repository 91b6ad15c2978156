package admin

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Backuper writes the data directory as it is at one moment: what was written
// after a version, 0 for all. Versions count in the directory of that name alone.
type Backuper interface {
	Directory(ctx context.Context) (string, error)
	Backup(ctx context.Context, w io.Writer, since uint64, directory string) error
}

func (a *API) backups(api huma.API) {
	route(api, "backup", http.MethodGet, base+"/backup", "Back up the data directory, whole or what was written since", a.backup, func(op *huma.Operation) {
		op.Responses["200"] = &huma.Response{
			Description: "A file for `hindsight restore`. One without its end broke off.",
			Content:     map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
		}
	})
}

type backupInput struct {
	Since     uint64 `query:"since" doc:"What the backup before reached; 0 or left out: a full one."`
	Directory string `query:"directory" maxLength:"100" doc:"The directory that the backup before names; needed with since."`
}

func (a *API) backup(ctx context.Context, in *backupInput) (*huma.StreamResponse, error) {
	name, err := a.cfg.Store.Directory(ctx)
	if err != nil {
		return nil, a.fail("the data directory", err)
	}
	if in.Since > 0 && in.Directory != name {
		return nil, wrong(http.StatusConflict, "query.directory", "Make a full backup: leave since out.", "isn't this data directory; it was restored or begun anew after the backup")
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", "application/octet-stream")
		if err := a.cfg.Store.Backup(ctx, out.BodyWriter(), in.Since, name); err != nil {
			a.log.Error("a backup broke off", "error", err) // its end is missing
		}
	}}, nil
}
