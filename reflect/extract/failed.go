package extract

import "regexp"

// failure is how tools say that they failed where the wire has no sign for it.
var failure = regexp.MustCompile(`(?i)^[^\p{L}\p{N}]*(?:error|fatal|traceback|exception|panic|failed|failure|usage:|denied|unauthorized|forbidden|cannot|could not|unable to|npm err|segmentation fault|timed? ?out|错误|失败|异常|报错)\b|^[^\p{L}\p{N}]*(?:错误|失败|异常|报错|无法|拒绝|超时|未找到|找不到)|^\s*\{\s*"(?:error|errors)"\s*:\s*[^nf\s]|"(?:is_error|isError)"\s*:\s*true|"(?:ok|success)"\s*:\s*false|\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9]\d*\b|\b(?:status(?: code)?|HTTP(?:/\d(?:\.\d)?)?):? [45]\d\d\b|\b(?:command not found|no such file or directory|permission denied|connection refused)\b`)

// Failed says whether a tool result reports a failure.
func Failed(e Event) bool { return e.Failed || failure.MatchString(e.Text) }
