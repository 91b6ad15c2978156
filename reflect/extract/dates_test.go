package extract

import (
	"testing"
	"time"
)

func TestDates(t *testing.T) {
	shanghai := time.FixedZone("CST", 8*3600)
	york := time.FixedZone("EST", -5*3600)
	friday := time.Date(2026, 11, 27, 0, 30, 0, 0, shanghai) // half past midnight, Thursday elsewhere
	monthEnd := time.Date(2027, 3, 31, 23, 50, 0, 0, york)   // a Wednesday
	newYear := time.Date(2027, 1, 1, 0, 5, 0, 0, time.UTC)   // a Friday
	sunday := time.Date(2026, 11, 29, 12, 0, 0, 0, shanghai) // the week's last day
	for _, c := range []struct {
		now        time.Time
		text, want string
	}{
		{friday, "I came back yesterday.", "I came back yesterday (2026-11-26)."},
		{friday.In(york), "I came back yesterday.", "I came back yesterday (2026-11-25)."},
		{friday, "I fly tomorrow.", "I fly tomorrow (2026-11-28)."},
		{friday, "It broke last Wednesday.", "It broke last Wednesday (2026-11-25)."},
		{friday, "It broke last Friday.", "It broke last Friday (2026-11-20)."},
		{friday, "We ship next Monday.", "We ship next Monday (2026-11-30)."},
		{friday, "We ship this Sunday.", "We ship this Sunday (2026-11-29)."},
		{sunday, "We ship next Sunday.", "We ship next Sunday (2026-12-06)."},
		{friday, "It happened last week.", "It happened last week (2026-11-16/2026-11-22)."},
		{friday, "It happened three weeks ago.", "It happened three weeks ago (2026-11-02/2026-11-08)."},
		{friday, "It was 10 days ago.", "It was 10 days ago (2026-11-17)."},
		{monthEnd, "I moved last month.", "I moved last month (2027-02)."},
		{monthEnd, "I leave tomorrow.", "I leave tomorrow (2027-04-01)."},
		{newYear, "I married last year.", "I married last year (2026)."},
		{newYear, "It rained the day before yesterday.", "It rained the day before yesterday (2026-12-30)."},
		{friday, "上周三登录接口504超时。", "上周三（2026-11-18）登录接口504超时。"},
		{friday, "下周三开会。", "下周三（2026-12-02）开会。"},
		{friday, "这周日去爬山。", "这周日（2026-11-29）去爬山。"},
		{friday, "昨天发布了。", "昨天（2026-11-26）发布了。"},
		{friday, "我前天回来的。", "我前天（2026-11-25）回来的。"},
		{friday, "大后天出差。", "大后天（2026-11-30）出差。"},
		{friday, "上上周修好的。", "上上周（2026-11-09/2026-11-15）修好的。"},
		{friday, "三天前上线。", "三天前（2026-11-24）上线。"},
		{friday, "两周后答辩。", "两周后（2026-12-07/2026-12-13）答辩。"},
		{monthEnd, "上个月搬的家。", "上个月（2027-02）搬的家。"},
		{newYear, "去年结的婚。", "去年（2026）结的婚。"},
		{newYear, "昨晚没睡好。", "昨晚（2026-12-31）没睡好。"},
		{friday, "I like tea.", "I like tea."},
		{friday, "我喜欢今麦郎。", "我喜欢今麦郎。"},
		{time.Time{}, "I came back yesterday.", "I came back yesterday."},
	} {
		if got := dated(c.text, "", c.now); got != c.want {
			t.Errorf("%s: %s", c.now.Format(time.RFC3339), got)
		}
	}
	if got := dated("The login timed out.", "last Wednesday", friday); got != "The login timed out (2026-11-25)." {
		t.Error(got)
	}
	if got := dated("登录超时。", "上周三", friday); got != "登录超时（2026-11-18）。" {
		t.Error(got)
	}
}
