package wording

import "testing"

// What was wrong may be named as what was wrong, and never as what is.
func TestCorrectionsAreTold(t *testing.T) {
	for evidence, say := range map[string]struct{ right, turned []string }{
		"Small correction: our metrics port is now 9191, not 9090.": {
			right: []string{
				"The metrics port is now 9191, not 9090.", "The metrics port was changed from 9090 to 9191.", "The metrics port, previously 9090, is 9191.",
				"The user's metrics port was incorrectly stated as 9090, but it is now 9191.",
			},
			turned: []string{
				"The metrics port is now 9090, not 9191.", "The metrics port was changed from 9191 to 9090.", "The user corrected the port to 9090.", "The metrics port is 9090.",
				"The metrics port was set to 9090.", "The metrics port was incorrectly stated as 9191, but it is now 9090.", "The metrics port is 9090, it was 9191.",
			},
		},
		"不对，我刚才说错了，测试库的端口是 5433，不是 5432。": {
			right:  []string{"测试库的端口由5432改为5433。", "测试库的端口从5432改成了5433。", "测试库的端口是5433，之前误说成5432。"},
			turned: []string{"测试库的端口由5433改为5432。", "测试库的端口是5432，不是5433。", "测试库的端口是5432。", "测试库的端口改为5432。"},
		},
	} {
		for _, text := range say.right {
			if Reversed(text, evidence) || Opposed(text, evidence) {
				t.Errorf("taken for turned round: %s", text)
			}
		}
		for _, text := range say.turned {
			if !Reversed(text, evidence) {
				t.Errorf("not seen to be turned round: %s", text)
			}
		}
	}
}
