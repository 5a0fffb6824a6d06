package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/words"
)

// textOf is a sentence on one line, with its expressions in backquotes.
func textOf(parts []part) (text string) {
	for _, p := range parts {
		if text += p.Text; p.Code != "" {
			text += "`" + p.Code + "`"
		}
		if !p.At.IsZero() {
			text += words.UTC(p.At)
		}
	}
	return text
}

// Each part of a rule that decides when it rings is said, in both languages.
func TestARuleInWords(t *testing.T) {
	t.Parallel()
	noon, none, five := time.Date(2027, time.March, 1, 12, 0, 0, 0, time.UTC), "0s", "5m"
	for name, c := range map[string]struct {
		rule calls.Rule
		want [2]string
	}{
		"cron": {calls.Rule{Cron: "*/5 9-17 * * 1-5", Timezone: "Europe/Berlin"}, [2]string{
			"Every 5 minutes between 09:00 and 17:59 on weekdays `*/5 9-17 * * 1-5`, in Europe/Berlin.", "每周一至周五 09:00 至 17:59 每 5 分钟 `*/5 9-17 * * 1-5`，时区 Europe/Berlin。"}},
		"cron without a zone": {calls.Rule{Cron: "0 9 * * *"}, [2]string{"At 09:00 every day `0 9 * * *`, in UTC.", "每天 09:00 `0 9 * * *`，时区 UTC。"}},
		"no words":            {calls.Rule{Cron: "0 9 15W * *"}, [2]string{"At the times of `0 9 15W * *`, in UTC.", "按表达式 `0 9 15W * *` 的时间，时区 UTC。"}},
		"Quartz":              {calls.Rule{Cron: "0 0 9 ? * 2", Dialect: "quartz"}, [2]string{"At 09:00 on Monday `0 0 9 ? * 2`, in UTC.", "每周一 09:00 `0 0 9 ? * 2`，时区 UTC。"}},
		"several": {calls.Rule{Crons: []string{"0 9 * * *", "0 9 15W * *", "0 8 * * SUN"}}, [2]string{
			"At 09:00 every day `0 9 * * *`; at the times of `0 9 15W * *`; at 08:00 on Sunday `0 8 * * SUN`, in UTC.",
			"每天 09:00 `0 9 * * *`；按表达式 `0 9 15W * *` 的时间；每周日 08:00 `0 8 * * SUN`，时区 UTC。"}},
		"every":           {calls.Rule{Every: "90s"}, [2]string{"Every 1 min 30 s.", "每 1 分钟 30 秒。"}},
		"every with more": {calls.Rule{Every: "1h", Offset: &five, EndAt: noon}, [2]string{"Every 1 h, counted from 1970-01-01 00:00 UTC and 5 min, until 2027-03-01 12:00:00 UTC.", "每 1 小时，自 1970-01-01 00:00 UTC 加 5 分钟 起计，直到 2027-03-01 12:00:00 UTC。"}},
		"no offset":       {calls.Rule{Every: "1h", Offset: &none}, [2]string{"Every 1 h, counted from 1970-01-01 00:00 UTC and 0 s.", "每 1 小时，自 1970-01-01 00:00 UTC 加 0 秒 起计。"}},
		"after": {calls.Rule{After: "1h", InitialDelay: "10m", OnFailure: "pause"}, [2]string{
			"1 h after the end of each delivery, not before 10 min after the booking. It pauses after a delivery that failed.", "每次投递结束后 1 小时，预定后 10 分钟 内不触发。投递失败后自动暂停。"}},
		"bounds": {calls.Rule{Every: "1h", StartAt: noon, MaxOccurrences: 1200, Jitter: "30s", Missed: "skip"}, [2]string{
			"Every 1 h, from 2027-03-01 12:00:00 UTC on, at most 1,200 times, each delayed by less than 30 s. Missed times are skipped.",
			"每 1 小时，从 2027-03-01 12:00:00 UTC 起，最多 1,200 次，每次随机推迟不到 30 秒。错过的时间将跳过。"}},
		"once": {calls.Rule{Every: "1h", MaxOccurrences: 1}, [2]string{"Every 1 h, at most once.", "每 1 小时，最多 1 次。"}},
		"exclusions": {calls.Rule{Cron: "0 * * * *", Exclude: []string{"2027-12-26", "* 12 * * *", "2027-12-25", "0 9 15W * *"}, Missed: "fire_all"}, [2]string{
			"At minute 0 of every hour `0 * * * *`, in UTC, except on 2027-12-25, 2027-12-26, except every minute between 12:00 and 12:59 every day `* 12 * * *`, except at the times of `0 9 15W * *`. Missed times are made up for, one by one.",
			"每小时的 0 分 `0 * * * *`，时区 UTC，2027-12-25、2027-12-26 除外，每天 12:00 至 12:59 每 1 分钟 `* 12 * * *` 除外，按表达式 `0 9 15W * *` 的时间 除外。错过的时间将逐一补发。"}},
		"a rate without a day": {calls.Rule{Every: "1h", Exclude: []string{"2027-12-25"}}, [2]string{"Every 1 h, in UTC, except on 2027-12-25.", "每 1 小时，时区 UTC，2027-12-25 除外。"}},
		"listed":               {calls.Rule{At: []time.Time{noon, noon}}, [2]string{"At 2 listed times.", "在列出的 2 个时间。"}},
		"before":               {calls.Rule{Before: []string{"24h", "0s"}, DueAt: noon}, [2]string{"24 h, 0 s before 2027-03-01 12:00:00 UTC.", "2027-03-01 12:00:00 UTC 之前 24 小时、0 秒。"}},
		"on a clock":           {calls.Rule{Before: []string{"1h"}, DueLocal: "2027-03-01T12:00:00", Timezone: "Europe/Berlin"}, [2]string{"1 h before 2027-03-01 12:00:00, in Europe/Berlin.", "2027-03-01 12:00:00 之前 1 小时，时区 Europe/Berlin。"}},
		"many before":          {calls.Rule{Before: make([]string, mostListed+1)}, [2]string{"At 11 listed times.", "在列出的 11 个时间。"}},
	} {
		for i, lang := range words.Languages {
			require.Equal(t, c.want[i], textOf(ruleInWords(words.Speech{Lang: lang}, c.rule)), name)
		}
	}
	var holidays []string
	for range mostListed + 2 {
		holidays = append(holidays, "2027-12-25")
	}
	require.Contains(t, textOf(ruleInWords(words.Speech{Lang: words.English}, calls.Rule{Every: "1h", Exclude: holidays})), "2027-12-25 and 2 more days.")
	require.NotContains(t, textOf(ruleInWords(words.Speech{Lang: words.English}, calls.Rule{Every: "1h", Exclude: holidays[1:]})), "more day", "one more is named")
}
