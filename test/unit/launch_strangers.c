/* bench/launch: who may join a team: ranks that are missing, wrong, doubled, of other jobs, and no ranks at all. */
#include "launch_team.h"

#include <poll.h>
#include <sys/socket.h>

#include "launch/local.h"

static struct hello hello_of(const struct job* job, uint32_t rank) {
  struct hello hello = {.version = PROTOCOL_VERSION,
                        .role = ROLE_SUPERVISOR,
                        .key = job->key,
                        .rank = rank,
                        .ranks = job->ranks,
                        .pid = 7};
  strcpy(hello.host, "gb0\x1b");
  return hello;
}

static struct wire knock(const struct job* job) {
  char fault[256];
  int fd = address_connect("127.0.0.1", job->port, wire_clock() + IN_TIME, fault, sizeof fault);
  if (fd < 0) fail_msg("%s", fault);
  return wire_open(fd);
}

/* In a child while the driver waits: sends a hello; what it gets has to be `type` (0: closed) with these words. */
static void visit(const struct job* job, const struct hello* hello, size_t bytes, uint32_t type, const char* words) {
  struct wire wire = knock(job);
  struct wire_message message;
  char text[256] = "";
  wire_send(&wire, MESSAGE_HELLO, hello, bytes, wire_clock() + IN_TIME);
  enum wire_result result = wire_receive(&wire, &message, wire_clock() + IN_TIME);
  if (result == WIRE_OK) snprintf(text, sizeof text, "%.*s", (int)message.bytes, (const char*)message.data);
  bool good = type == 0 ? result == WIRE_CLOSED : result == WIRE_OK && message.type == type && strstr(text, words);
  if (!good) fprintf(stderr, "result %d, \"%s\"; expected \"%s\"\n", result, text, words);
  board->left_well[0] += good;
  wire_close(&wire);
}

static void all_visits(const struct job* job) {
  struct hello hello = hello_of(job, 1);
  hello.key ^= 1;
  visit(job, &hello, sizeof hello, 0, "");
  hello = hello_of(job, 1);
  visit(job, &hello, sizeof hello - 1, 0, "");
  visit(job, &hello, 2, 0, "");
  hello.version++;
  visit(job, &hello, sizeof hello, MESSAGE_REFUSED, "it is another version of sizewise");
  hello = hello_of(job, 0);
  visit(job, &hello, sizeof hello, MESSAGE_REFUSED, "this rank is here already");
  hello.ranks++;
  visit(job, &hello, sizeof hello, MESSAGE_REFUSED, "it counts other ranks than rank 0 does");
  hello = hello_of(job, job->ranks);
  visit(job, &hello, sizeof hello, MESSAGE_REFUSED, "it counts other ranks than rank 0 does");
  hello = hello_of(job, 1);
  hello.role = ROLE_WORKER; /* of no attempt */
  visit(job, &hello, sizeof hello, 0, "");
  struct wire wire = knock(job);
  static const char much[8192];
  struct wire_message message;
  wire_send(&wire, MESSAGE_HELLO, much, sizeof much, wire_clock() + IN_TIME);
  board->left_well[0] += wire_receive(&wire, &message, wire_clock() + IN_TIME) == WIRE_CLOSED;
  wire_close(&wire);
  wire = knock(job);
  assert_int_equal(write(wire.fd, "GET / HTTP/1.1\r\n\r\n", 18), 18);
  board->left_well[0] += wire_receive(&wire, &message, wire_clock() + IN_TIME) == WIRE_CLOSED;
  wire_close(&wire);
}
enum { VISITS = 10 };

static void wrong_visitors(void** state) {
  (void)state;
  struct job job = launched_job(2);
  job.wait_ms = 3000;
  pid_t visitor = fork();
  if (visitor == 0) {
    usleep(700000); /* rank 0 is there */
    all_visits(&job);
    _exit(0);
  }
  char fault[TEAM_TEXT] = "";
  assert_null(team_open(&job, &(struct team_settings){.work = test_worker}, fault));
  assert_int_equal(status_of(visitor), 0);
  assert_int_equal(board->left_well[0], VISITS);
  assert_words(fault, "rank 1 of 2 did not come to 127.0.0.1 port ");
  assert_words(fault, " within 3 s; turned away: 9 (a connection: it is not sizewise)");
}

/* Many that connect and say nothing keep nobody out, before or after the start. */
static void silent_visitors(void** state) {
  (void)state;
  struct job job = launched_job(2);
  pid_t others = fork();
  if (others == 0) {
    char fault[256];
    int fd;
    while ((fd = address_connect("127.0.0.1", job.port, wire_clock() + 100, fault, sizeof fault)) < 0) usleep(1000);
    for (int i = 0; i < 40; i++) (void)knock(&job); /* stays open */
    _exit(supervisor_run(&job, 1, test_worker, NULL));
  }
  struct team* team = open_team(&job);
  start_team(team);
  assert_well(team);
  struct hello hello = hello_of(&job, 1);
  struct wire late = knock(&job), second = knock(&job);
  wire_send(&late, MESSAGE_HELLO, &hello, sizeof hello, wire_clock() + IN_TIME);
  hello.role = ROLE_WORKER;
  hello.attempt = 1;
  wire_send(&second, MESSAGE_HELLO, &hello, sizeof hello, wire_clock() + IN_TIME);
  assert_well(team);
  assert_well(team);
  struct wire_message message;
  assert_int_equal(ask(team, ASK_HANG, -1, TOO_LATE).kind, TEAM_HUNG);
  assert_int_equal(wire_receive(&late, &message, wire_clock() + IN_TIME), WIRE_OK);
  assert_int_equal(message.type, MESSAGE_REFUSED);
  assert_int_equal(wire_receive(&second, &message, wire_clock() + IN_TIME), WIRE_CLOSED);
  wire_close(&late);
  wire_close(&second);
  team_close(team);
  assert_int_equal(status_of(others), SUPERVISOR_DONE);
  assert_all_gone(2);
}

/* A worker of another attempt that was slow to say hello: it must not pass for the one that is awaited. */
static void late_worker(void** state) {
  (void)state;
  struct job job = launched_job(2);
  pid_t pid = launch(job, 1, 0);
  struct team* team = open_team(&job);
  struct hello hello = hello_of(&job, 1);
  struct wire wire = knock(&job);
  struct wire_message message;
  hello.role = ROLE_WORKER;
  hello.attempt = 7;
  wire_send(&wire, MESSAGE_HELLO, &hello, sizeof hello, wire_clock() + IN_TIME);
  start_team(team);
  assert_well(team);
  assert_int_equal(wire_receive(&wire, &message, wire_clock() + IN_TIME), WIRE_CLOSED);
  wire_close(&wire);
  team_close(team);
  assert_int_equal(status_of(pid), SUPERVISOR_DONE);
}

/* --- the other way round: what a supervisor meets where the driver should be */

static int listen_as(struct job* job) {
  char fault[256];
  *job = local_job(2);
  job->launcher = "mpirun";
  job->wait_ms = 1500;
  int listener = address_listen(true, &job->port, fault, sizeof fault);
  assert_true(listener >= 0);
  return listener;
}

static struct wire accept_one(int listener) {
  assert_true(wire_wait(listener, POLLIN, wire_clock() + IN_TIME));
  return wire_open(accept(listener, NULL, NULL));
}

/* launch(), with stderr in `said`. */
static pid_t launch_heard(struct job job, int* said) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  *said = ends[0];
  pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    _exit(supervisor_run(&job, 1, test_worker, NULL));
  }
  close(ends[1]);
  return pid;
}

static void assert_says(int said, const char* words) {
  char text[512] = "";
  assert_true(read(said, text, sizeof text - 1) > 0);
  assert_words(text, words);
  close(said);
}

static void no_driver(void** state) {
  (void)state;
  struct job job;
  int said;
  close(listen_as(&job));
  int64_t start = wire_clock();
  pid_t pid = launch_heard(job, &said);
  assert_int_equal(status_of(pid), SUPERVISOR_ALONE);
  assert_in_range(wire_clock() - start, 1000, IN_TIME);
  assert_says(said, "sizewise: rank 1 does not reach rank 0 at 127.0.0.1 port ");
}

static void refusal(void** state) {
  (void)state;
  struct job job;
  int said, listener = listen_as(&job);
  job.wait_ms = IN_TIME;
  pid_t pid = launch_heard(job, &said);
  struct wire wire = accept_one(listener);
  struct wire_message message;
  assert_int_equal(wire_receive(&wire, &message, wire_clock() + IN_TIME), WIRE_OK);
  int64_t start = wire_clock();
  wire_send(&wire, MESSAGE_REFUSED, "not you", 7, wire_clock() + IN_TIME);
  assert_int_equal(status_of(pid), SUPERVISOR_ALONE); /* at once: trying again would not help */
  assert_in_range(wire_clock() - start, 0, IN_TIME / 2);
  assert_says(said, "the driver turned this rank away: not you");
  wire_close(&wire);
  close(listener);
}

/* Another service, another job's driver, then the right one. */
static void wrong_drivers(void** state) {
  (void)state;
  struct job job;
  int said, listener = listen_as(&job);
  job.wait_ms = IN_TIME;
  pid_t pid = launch_heard(job, &said);
  struct wire wire = accept_one(listener);
  assert_int_equal(write(wire.fd, "SSH-2.0-OpenSSH_9.2\r\n", 21), 21);
  usleep(100000);
  wire_close(&wire);
  wire = accept_one(listener);
  wire_close(&wire);
  wire = accept_one(listener);
  struct wire_message message;
  struct hello hello;
  assert_int_equal(wire_receive(&wire, &message, wire_clock() + IN_TIME), WIRE_OK);
  assert_int_equal(message.bytes, sizeof hello);
  memcpy(&hello, message.data, sizeof hello);
  assert_int_equal(hello.rank, 1);
  assert_int_equal(hello.pid, pid);
  assert_true(hello.key == job.key);
  wire_send(&wire, MESSAGE_WELCOME, NULL, 0, wire_clock() + IN_TIME);
  wire_send(&wire, 99, NULL, 0, wire_clock() + IN_TIME); /* nothing that a driver says */
  assert_int_equal(status_of(pid), SUPERVISOR_ALONE);
  wire_close(&wire);
  close(said), close(listener);
}

/* --- supervisors that the driver forks, while nobody answers them */

static struct local fork_unanswered(uint32_t count) {
  struct job job = local_job(count);
  struct local local;
  char fault[TEAM_TEXT] = "";
  job.port = free_port();
  if (!local_fork(&local, &job, count, test_worker, NULL, fault, sizeof fault)) fail_msg("%s", fault);
  return local;
}

/* They keep nothing of the driver's open, are seen to end, and are ended at once. */
static void forked_supervisors(void** state) {
  (void)state;
  int ends[2], status = 0;
  char nothing;
  assert_int_equal(pipe(ends), 0);
  struct local local = fork_unanswered(4);
  close(ends[1]);
  assert_true(wire_wait(ends[0], POLLIN, wire_clock() + IN_TIME / 4));
  assert_int_equal(read(ends[0], &nothing, 1), 0);
  close(ends[0]);
  assert_int_equal(local_ended(&local, &status), -1);
  kill(local.pids[2], SIGKILL);
  for (int64_t deadline = wire_clock() + IN_TIME; local_ended(&local, &status) != 2; usleep(1000))
    assert_true(wire_clock() < deadline);
  assert_int_equal(WTERMSIG(status), SIGKILL);
  int64_t start = wire_clock();
  local_end(&local, wire_clock() + IN_TIME);
  assert_in_range(wire_clock() - start, 0, IN_TIME / 4);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* A driver that dies before they reach it leaves no connection to close. */
static void unreached_driver_killed(void** state) {
  (void)state;
  pid_t driver = fork();
  if (driver == 0) {
    struct local local = fork_unanswered(4);
    memcpy(board->supervisors, local.pids, 4 * sizeof *local.pids);
    usleep(100000);
    _exit(0);
  }
  assert_int_equal(status_of(driver), 0);
  int64_t start = wire_clock();
  for (int i = 0; i < 4; i++) assert_gone(board->supervisors[i], "a supervisor");
  assert_in_range(wire_clock() - start, 0, IN_TIME / 4);
}

static void port_in_use(void** state) {
  (void)state;
  struct job job;
  int listener = listen_as(&job);
  char fault[TEAM_TEXT] = "";
  assert_null(team_open(&job, &(struct team_settings){.work = test_worker}, fault));
  assert_words(fault, "--master HOST:PORT names another");
  close(listener);
}

int main(void) {
#define ON_BOARD(test) cmocka_unit_test_setup_teardown(test, make_board, drop_board)
  const struct CMUnitTest tests[] = {
      ON_BOARD(wrong_visitors),
      ON_BOARD(silent_visitors),
      ON_BOARD(late_worker),
      ON_BOARD(no_driver),
      ON_BOARD(refusal),
      ON_BOARD(wrong_drivers),
      ON_BOARD(port_in_use),
      ON_BOARD(forked_supervisors),
      ON_BOARD(unreached_driver_killed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
