package isolation

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send/sendtest"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

const (
	begun    = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
	unzipped = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
)

// hostile are receivers that break the rules of HTTP, and how a timer that calls them ends; those
// without an end hold their slot. The transport's own tests have many more of them.
var hostile = map[string]struct {
	manner sendtest.Manner
	end    string
}{
	"silence":             {sendtest.Silent, ""},
	"deaf":                {sendtest.Deaf, ""},
	"slow-headers":        {sendtest.ThenTrickle("HTTP/1.1 200 OK\r\nX: ", 50*time.Millisecond), ""},
	"endless-body":        {sendtest.ThenForever(begun, "x"), "delivered"},
	"gzip-bomb":           {sendtest.ThenForever(unzipped, sendtest.Bomb()), "delivered"},
	"endless-header":      {sendtest.ThenForever("HTTP/1.1 200 OK\r\nX: ", "x"), "broken_answer"},
	"huge-header":         {sendtest.Then("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 10<<20) + "\r\n\r\n"), "broken_answer"},
	"early-answer":        {sendtest.Early("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), "HTTP 500"},
	"hang-up":             {sendtest.ThenClose(""), "broken_answer"},
	"reset-within-header": {sendtest.ThenReset("HTTP/1.1 200 OK\r\nX: "), "broken_answer"},
}

// Hostile receivers, all at once: each attempt ends as it should, the process stays small, a
// healthy type rings while they hold what they can hold, and every slot is free afterwards.
func TestHostileReceivers(t *testing.T) {
	env, healthy, kind := testenv.Start(t)
	const repeats, others = 4, 40
	memory, holding := watchMemory(), 0
	t.Run("beside a healthy type", func(t *testing.T) { // whose end closes their receivers
		for name, c := range hostile {
			if c.end == "" {
				holding += repeats
			}
			for n := range repeats {
				h := sendtest.NewHostile(t, "127.0.0.1:0", c.manner)
				body := sample.Booking(kind+"."+name, strconv.Itoa(n), "0s", "http://"+h.Addr+"/")
				body["callback"] = testenv.JSON{"url": "http://" + h.Addr + "/", "timeout": "1m"}
				body["payload"], body["retry"] = strings.Repeat("x", 60<<10), testenv.JSON{"steps": []string{}} // more than one packet
				env.Add(body)
			}
		}
		require.Eventually(t, func() bool { return attemptsUnderWay() == holding }, testenv.Patience, testenv.Interval, "they hold their slots, and no other does")
		env.Policy(kind+".healthy", testenv.JSON{"callback": testenv.JSON{"url": healthy.URL}})
		env.AddMany(kind+".healthy", others, time.Second)
		env.AwaitAll(kind+".healthy", others, "delivered")
		require.Equal(t, holding, attemptsUnderWay(), "meanwhile")
		for name, c := range hostile {
			for n := range repeats {
				path := kind + "." + name + "/" + strconv.Itoa(n)
				switch c.end {
				case "":
					require.Contains(t, []string{"scheduled", "delivering"}, env.Get(path).Status, name)
				case "delivered":
					env.Await(path, "delivered")
				default:
					end, _, _ := strings.Cut(env.Await(path, "failed").LastFailure.Message, ":")
					require.Equal(t, c.end, end, name)
				}
			}
		}
	})
	require.Len(t, healthy.All(), others)
	require.Less(t, memory.growth(), int64(memoryLimit))
	require.Eventually(t, func() bool { return attemptsUnderWay() == 0 }, testenv.Patience, testenv.Interval, "every slot is free")
}

// The negative control: a process that keeps what it is sent is seen to grow.
func TestAProcessThatGrowsIsSeen(t *testing.T) {
	h := sendtest.NewHostile(t, "127.0.0.1:0", sendtest.ThenForever(unzipped, sendtest.Bomb()))
	memory := watchMemory()
	kept, err := readAll("http://"+h.Addr, 2*memoryLimit)
	require.NoError(t, err)
	require.Greater(t, memory.growth(), int64(memoryLimit))
	runtime.KeepAlive(kept)
}
