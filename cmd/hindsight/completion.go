package main

import (
	"fmt"
	"os"
	"strings"
)

// completionCmd is `hindsight completion`. What the shell asks for afterwards is
// answered in run, from the same definitions as the command line.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help tells how to use it.
func (completionCmd) Help() string {
	return "Put this into the shell's start file: source <(hindsight completion bash) for bash and zsh (with zsh), hindsight completion fish | source for fish."
}

// Run prints what the shell has to be told once.
func (c *completionCmd) Run(a *app) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	quoted := "'" + strings.ReplaceAll(self, "'", `'\''`) + "'"
	asks := "complete -o default -o bashdefault -C " + quoted + " hindsight"
	switch c.Shell {
	case "bash":
		return a.say("%s", asks)
	case "zsh":
		return a.say("autoload -U +X bashcompinit && bashcompinit\n%s", asks)
	}
	return a.say(`function __hindsight_complete
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct); and set COMP_LINE "$COMP_LINE "
    %s
end
complete -c hindsight -f -a '(__hindsight_complete)'`, quoted)
}
