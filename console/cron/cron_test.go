package cron

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/words"
)

// A common expression is said in both languages. One that cannot be said exactly in a few words is not
// said; "" stands for that.
func TestExpressionsInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"*/5 9-17 * * 1-5":            {"every 5 minutes between 09:00 and 17:59 on weekdays", "每周一至周五 09:00 至 17:59 每 5 分钟"},
		"* * * * *":                   {"every minute", "每 1 分钟"},
		"*/15 * * * *":                {"every 15 minutes", "每 15 分钟"},
		"*/10 * * * 6,0":              {"every 10 minutes on Saturday and Sunday", "每周六、周日，每 10 分钟"},
		"*/5 9,12,15 * * *":           {"every 5 minutes in the hours 9, 12 and 15 every day", "每天 9、12、15 点这几个小时内每 5 分钟"},
		"15 * * * *":                  {"at minute 15 of every hour", "每小时的 15 分"},
		"*/7 * * * *":                 {"at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour", "每小时的 0、7、14、21、28、35、42、49、56 分"},
		"0 9-17 * * *":                {"at minute 0 of the hours 9 to 17 every day", "每天 9 至 17 点的 0 分"},
		"5-12,30 8 * * *":             {"at minutes 5 to 12 and 30 of hour 8 every day", "每天 8 点的 5 至 12、30 分"},
		"0 9 * * *":                   {"at 09:00 every day", "每天 09:00"},
		"30 9,18 * * MON,WED":         {"at 09:30 and 18:30 on Monday and Wednesday", "每周一、周三 09:30、18:30"},
		"0 0 1,15 * *":                {"at 00:00 on days 1 and 15 of the month", "每月 1、15 日 00:00"},
		"0 9 1-7 * *":                 {"at 09:00 on days 1 to 7 of the month", "每月 1 至 7 日 09:00"},
		"0 9 1 1,7 *":                 {"in January and July, at 09:00 on day 1 of the month", "仅限 1 月、7 月，每月 1 日 09:00"},
		"0 9 * 1-3 *":                 {"in January to March, at 09:00 every day", "仅限 1 月至 3 月，每天 09:00"},
		"0 12 L * *":                  {"at 12:00 on the last day of the month", "每月最后一天 12:00"},
		"0 12 L-3,1 * *":              {"at 12:00 on day 1 of the month and also 3 days before the last day of the month", "每月 1 日以及每月最后一天之前 3 天 12:00"},
		"0 12 LW * *":                 {"at 12:00 on the last weekday of the month", "每月最后一个工作日（周一至周五） 12:00"},
		"0 8 * * FRI#2":               {"at 08:00 on the second Friday of the month", "每月第二个周五 08:00"},
		"0 8 * * FRIL":                {"at 08:00 on the last Friday of the month", "每月最后一个周五 08:00"},
		"0 0 13 * FRI":                {"at 00:00 on day 13 of the month and also on Friday", "每月 13 日以及每周五 00:00"},
		"0 0 */10 * FRI":              {"at 00:00 on days 1, 11, 21 and 31 of the month, if that is Friday", "每月 1、11、21、31 日且为周五 00:00"},
		"0 0 1-31 * FRI":              {"at 00:00 every day", "每天 00:00"},
		"@daily":                      {"at 00:00 every day", "每天 00:00"},
		"@Weekly":                     {"at 00:00 on Sunday", "每周日 00:00"},
		"@yearly":                     {"in January, at 00:00 on day 1 of the month", "仅限 1 月，每月 1 日 00:00"},
		"*/10 * * * * *":              {"every 10 seconds", "每 10 秒"},
		"* * * * * *":                 {"every second", "每 1 秒"},
		"*/10 * 9-10 * * MON":         {"every 10 seconds between 09:00 and 10:59 on Monday", "每周一 09:00 至 10:59 每 10 秒"},
		"30 0 9 * * *":                {"at 09:00:30 every day", "每天 09:00:30"},
		"30 */5 * * * *":              {"every 5 minutes, at second 30", "每 5 分钟（第 30 秒）"},
		"15,45 30 * * * *":            {"at minute 30 of every hour, at seconds 15 and 45", "每小时的 30 分（第 15、45 秒）"},
		"0 0 15W * *":                 {},
		"1-59/2 * * * *":              {},
		"5/7,3/11 0 * * *":            {},
		"0 0 */2 * FRI#2":             {},
		"0 9 * *":                     {},
		"61 * * * *":                  {},
		"@every 1h":                   {},
		"TZ=UTC 0 9 * * *":            {},
		"7,9-11/2,x * * * *":          {},
		"0 0 * * MON-":                {},
		"1,3,5,17,19,27 * * * * *":    {"every minute, at seconds 1, 3, 5, 17, 19 and 27", "每 1 分钟（第 1、3、5、17、19、27 秒）"},
		"1,3,5,17,19,27,31 * * * * *": {},
	} {
		times, ok := Read(text, Form{})
		require.Equal(t, want[0] != "", ok, text)
		if ok {
			require.Equal(t, want[0], times.In(words.Speech{Lang: words.English}), text)
			require.Equal(t, want[1], times.In(words.Speech{Lang: words.Languages[1]}), text)
		}
	}
}

// The same column means other days to other schedulers.
func TestDialects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		form Form
		want string
	}{
		{"0 0 9 ? * 2-6", Form{Dialect: quartz}, "at 09:00 on weekdays"},
		{"0 0 9 ? * 6#3 *", Form{Dialect: quartz}, "at 09:00 on the third Friday of the month"},
		{"0 0/30 9 ? * MON-SUN", Form{Dialect: quartz}, "at 09:00 and 09:30 every day"},
		{"0 /5 * ? * *", Form{Dialect: quartz}, "every 5 minutes"},
		{"0 0 9 13 * FRI", Form{Dialect: "spring"}, "at 09:00 on day 13 of the month, if that is Friday"},
		{"0 0 9 * * 1-5", Form{Dialect: "spring"}, "at 09:00 on weekdays"},
		{"0 0 9 ? * 2 2027", Form{Dialect: quartz}, ""},
		{"0 9 * * *", Form{Seconds: true}, ""},
		{"0 9 * * *", Form{Dialect: "spring"}, ""},
		{"@daily", Form{Dialect: quartz}, "at 00:00 every day"},
	} {
		times, ok := Read(c.text, c.form)
		require.Equal(t, c.want != "", ok, c.text)
		if ok {
			require.Equal(t, c.want, times.In(words.Speech{Lang: words.English}), c.text)
		}
	}
}
