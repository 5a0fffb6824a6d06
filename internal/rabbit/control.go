package rabbit

import (
	"fmt"
	"os/exec"
	"strings"
)

// CloseConnections closes all connections by the management command.
func (s *Server) CloseConnections() {
	s.t.Helper()
	s.run("", home+"rabbitmqctl", "--quiet", "close_all_connections", "maintenance")
}

// SetMemory sets the server's memory limit, in Erlang's terms: 0.4 is a part of the machine's,
// and {absolute, 1000000} is bytes. Beyond it the server takes no messages.
func (s *Server) SetMemory(watermark string) {
	s.t.Helper()
	s.eval("ok = vm_memory_monitor:set_vm_memory_high_watermark(" + watermark + ")")
}

// AddUser adds a user without permissions.
func (s *Server) AddUser(name, password string) {
	s.t.Helper()
	s.eval(fmt.Sprintf(`ok = rabbit_auth_backend_internal:add_user(<<%q>>, <<%q>>, <<"test">>)`, name, password))
}

// Permit sets by regular expressions what a user may configure, write to and read.
func (s *Server) Permit(user, configure, write, read string) {
	s.t.Helper()
	s.eval(fmt.Sprintf(`ok = rabbit_auth_backend_internal:set_permissions(<<%q>>, <<"/">>, <<%q>>, <<%q>>, <<%q>>, <<"test">>)`, user,
		configure, write, read))
}

// Unconfirmed returns how many messages wait for their confirmation. A channel that closes
// during the query has none.
func (s *Server) Unconfirmed() (messages int) {
	s.t.Helper()
	text := s.eval(`lists:sum([N || C <- rabbit_channel:list(), [{_, N}] <- [catch rabbit_channel:info(C, [messages_unconfirmed])]])`)
	if _, err := fmt.Sscanf(text, "{ok, %d}", &messages); err != nil {
		s.t.Fatalf("%q: %s", text, err)
	}
	return messages
}

// Suspend makes a queue take no messages and confirm none, like one without a majority.
func (s *Server) Suspend(queue string) { s.t.Helper(); s.process("sys:suspend", queue) }

// Resume undoes [Server.Suspend].
func (s *Server) Resume(queue string) { s.t.Helper(); s.process("sys:resume", queue) }

// process calls a function on the process of a queue.
func (s *Server) process(what, queue string) {
	s.t.Helper()
	s.eval(fmt.Sprintf(`{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<%q>>)), ok = %s(amqqueue:get_pid(Q))`, queue, what))
}

// eval evaluates Erlang in the server. It takes a hundredth of the time of rabbitmqctl, which
// starts its own Erlang.
func (s *Server) eval(expressions string) (result string) {
	s.t.Helper()
	result = s.run(expressions+".\n", "erl_call", "-address", "127.0.0.1:"+s.distribution, "-e")
	if !strings.HasPrefix(result, "{ok,") {
		s.t.Fatalf("%s %s", expressions, result)
	}
	return result
}

// run runs one of the server's programs, and returns its output.
func (s *Server) run(input, name string, args ...string) string {
	s.t.Helper()
	program := exec.Command(name, args...)
	program.Env, program.Stdin = s.environment, strings.NewReader(input)
	output, err := program.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %s: %s\n%s", name, strings.Join(args, " "), err, output)
	}
	return strings.TrimSpace(string(output))
}
