/* bench/launch/team when ranks hang, crash, fail, vanish or knock unasked: what is said, and that nothing is left. */
#include "launch_team.h"

#include <sys/socket.h>
#include <sys/time.h>

/* After a failure: it stays, nothing is asked, and the next attempt is well. */
static void assert_recovers(struct team* team, const struct team_failure* before) {
  uint32_t attempt = team_attempt(team);
  struct team_failure again = ask(team, ASK_NOTHING, -1, IN_TIME);
  assert_int_equal(again.kind, before->kind);
  assert_string_equal(again.text, before->text);
  start_team(team);
  assert_int_equal(team_attempt(team), attempt + 1);
  assert_well(team);
}

static void hangs(uint32_t ranks) {
  struct team* team = started_team(ranks);
  assert_well(team);
  struct board before = *board;
  int64_t start = wire_clock();
  struct team_failure failure = ask(team, ASK_HANG, (int)ranks - 1, TOO_LATE);
  assert_in_range(wire_clock() - start, TOO_LATE - 1, IN_TIME / 2);
  assert_int_equal(failure.kind, TEAM_HUNG);
  assert_int_equal(failure.rank, ranks - 1);
  assert_int_equal(failure.count, 1);
  char words[64];
  snprintf(words, sizeof words, "rank %u of %u did not answer within 0.3 s", ranks - 1, ranks);
  assert_words(failure.text, words);
  assert_recovers(team, &failure);
  for (uint32_t rank = 0; rank < ranks; rank++) assert_gone(before.workers[rank], "a worker of the attempt before");
  failure = ask(team, ASK_HANG, -1, TOO_LATE);
  assert_int_equal(failure.kind, TEAM_HUNG);
  assert_int_equal(failure.count, ranks);
  assert_int_equal(failure.rank, 0);
  start = wire_clock();
  team_close(team); /* what hangs is killed, not waited for */
  assert_in_range(wire_clock() - start, 0, PATIENCE_GOODBYE - 500);
  assert_all_gone(ranks);
}

static void hang_alone(void** state) {
  (void)state;
  hangs(1);
}
static void hang_of_two(void** state) {
  (void)state;
  hangs(2);
}
static void hang_of_eight(void** state) {
  (void)state;
  hangs(8);
}
static void hang_of_many(void** state) {
  (void)state;
  hangs(64);
}

static void deaths(void** state) {
  (void)state;
  static const struct {
    uint32_t type;
    const char *text, *said;
  } cases[] = {
      {ASK_CRASH, "rank 5 was killed by signal 11 (Segmentation fault)", ""},
      {ASK_EXIT, "rank 5 ended with status 3; its last words: no such device: 7", "first words\nno such device: 7\n"},
      {ASK_END, "rank 5 ended with status 0", ""},
  };
  struct team* team = started_team(8);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct team_failure failure = ask(team, cases[i].type, 5, IN_TIME);
    assert_int_equal(failure.kind, TEAM_DIED);
    assert_int_equal(failure.rank, 5);
    assert_int_equal(failure.count, 1);
    assert_string_equal(failure.text, cases[i].text);
    assert_string_equal(failure.said, cases[i].said);
    if (cases[i].type == ASK_EXIT) assert_int_equal(WEXITSTATUS(failure.status), 3);
    assert_recovers(team, &failure);
  }
  team_close(team);
  assert_all_gone(8);
}

/* Whoever writes much on stderr is not held up by it, and the last 4 KiB are kept. */
static void long_words(void** state) {
  (void)state;
  struct team* team = started_team(2);
  struct team_failure failure = ask(team, ASK_FLOOD, 1, IN_TIME);
  if (failure.kind == TEAM_FINE) failure = ask(team, ASK_NOTHING, 1, IN_TIME); /* its answer came before its end */
  assert_int_equal(failure.kind, TEAM_DIED);
  assert_string_equal(failure.text, "rank 1 ended with status 4; its last words: the ?[1mend");
  assert_int_equal(strlen(failure.said), TEAM_SAID);
  assert_words(failure.said, "line 19999\nthe ?[1mend\n\n");
  team_close(team);
}

static void between_calls(void** state) {
  (void)state;
  struct team* team = started_team(2);
  assert_well(team);
  kill(board->workers[1], SIGKILL);
  struct team_failure failure = ask(team, ASK_NOTHING, -1, IN_TIME);
  assert_int_equal(failure.kind, TEAM_DIED);
  assert_words(failure.text, "rank 1 was killed by signal 9 (Killed");
  assert_recovers(team, &failure);
  kill(board->workers[1], SIGKILL);
  failure = ask(team, ASK_HANG, 0, IN_TIME); /* it need not be among those asked */
  assert_int_equal(failure.kind, TEAM_DIED);
  assert_int_equal(failure.rank, 1);
  team_close(team);
}

static void errors(void** state) {
  (void)state;
  struct team* team = started_team(8);
  struct team_failure failure = ask(team, ASK_FAIL, 6, IN_TIME);
  assert_int_equal(failure.kind, TEAM_ERROR);
  assert_int_equal(failure.rank, 6);
  assert_string_equal(failure.text, "rank 6: NCCL says ?no");
  assert_recovers(team, &failure);
  failure = ask(team, ASK_TWICE, 2, IN_TIME);
  if (failure.kind == TEAM_FINE) failure = ask(team, ASK_HANG, 0, IN_TIME);
  assert_string_equal(failure.text, "rank 2 answered what it was not asked");
  assert_recovers(team, &failure);
  failure = ask(team, ASK_CLOSE, 3, TOO_LATE);
  assert_int_equal(failure.kind, TEAM_DIED);
  assert_string_equal(failure.text, "rank 3 closed its connection and did not end");
  assert_recovers(team, &failure);
  team_close(team);
}

/* All but one rank see an error because that one died a little later than they noticed. */
static void death_behind_errors(void** state) {
  (void)state;
  struct team* team = started_team(4);
  assert_well(team);
  pid_t victim = board->workers[3];
  pid_t killer = fork();
  if (killer == 0) {
    usleep(150000);
    _exit(kill(victim, SIGSEGV) != 0);
  }
  const uint32_t three[] = {0, 1, 2};
  struct team_failure failure;
  struct team_task task = {.type = ASK_FAIL, .ranks = three, .count = 3, .timeout_ms = IN_TIME};
  assert_false(team_call(team, &task, &failure));
  waitpid(killer, NULL, 0);
  assert_int_equal(failure.kind, TEAM_DIED);
  assert_int_equal(failure.rank, 3);
  team_close(team);
}

static void worker_without_a_start(void** state) {
  (void)state;
  static int number = SIGABRT;
  struct job job = local_job(2);
  char fault[TEAM_TEXT] = "";
  struct team* team = team_open(&job, &(struct team_settings){.work = test_worker, .context = &number}, fault);
  assert_non_null(team);
  struct team_failure failure = {0};
  if (team_start(team, &failure)) failure = ask(team, ASK_NOTHING, -1, IN_TIME);
  assert_int_equal(failure.kind, TEAM_DIED);
  assert_words(failure.text, "was killed by signal 6");
  team_close(team);
}

static void what_workers_start(void** state) {
  (void)state;
  struct team* team = started_team(2);
  ask(team, ASK_CHILD, 1, IN_TIME);
  pid_t first = board->grandchild;
  struct team_failure failure = ask(team, ASK_EXIT, 1, IN_TIME);
  assert_int_equal(failure.kind, TEAM_DIED);
  assert_gone(first, "a child of a worker that died");
  start_team(team);
  ask(team, ASK_CHILD, 1, IN_TIME);
  ask(team, ASK_HANG, 1, TOO_LATE);
  start_team(team);
  assert_gone(board->grandchild, "a child of a worker that hung");
  ask(team, ASK_CHILD, 1, IN_TIME);
  team_close(team);
  assert_gone(board->grandchild, "a child of a worker that ended well");
}

/* --- supervisors and drivers that vanish */

static void lost_supervisor(void** state) {
  (void)state;
  struct team* team = started_team(4);
  assert_well(team);
  kill(board->supervisors[2], SIGKILL);
  struct team_failure failure = ask(team, ASK_HANG, -1, IN_TIME);
  assert_int_equal(failure.kind, TEAM_LOST);
  assert_int_equal(failure.rank, 2);
  assert_words(failure.text, "rank 2 is lost: its supervisor (process ");
  assert_gone(board->workers[2], "the worker of a supervisor that was killed");
  struct team_failure again;
  assert_false(team_start(team, &again)); /* there is no way back */
  assert_int_equal(again.kind, TEAM_LOST);
  team_close(team);
  assert_all_gone(4);
}

/* As mpirun and srun end their ranks. */
static void ended_supervisor(void** state) {
  (void)state;
  struct job job = launched_job(2);
  pid_t pid = launch(job, 1, 0);
  struct team* team = open_team(&job);
  start_team(team);
  assert_well(team);
  ask(team, ASK_CHILD, 1, IN_TIME);
  kill(pid, SIGTERM);
  assert_int_equal(ask(team, ASK_HANG, -1, IN_TIME).kind, TEAM_LOST);
  assert_int_equal(status_of(pid), SUPERVISOR_SIGNAL);
  assert_gone(board->workers[1], "the worker of a supervisor that was ended");
  assert_gone(board->grandchild, "its child");
  team_close(team);
}

static pid_t run_driver(uint32_t type, uint32_t ranks) {
  pid_t driver = fork();
  if (driver != 0) return driver;
  struct team* team = started_team(ranks);
  assert_well(team);
  board->left_well[0] = 2; /* ready */
  if (type == ASK_HANG) ask(team, type, -1, IN_TIME);
  for (;;) pause();
}

static void dead_driver(uint32_t type, uint32_t ranks) {
  pid_t driver = run_driver(type, ranks);
  for (int64_t deadline = wire_clock() + IN_TIME; board->left_well[0] != 2; usleep(1000))
    assert_true(wire_clock() < deadline);
  usleep(50000);
  kill(driver, SIGKILL);
  assert_int_equal(status_of(driver), -SIGKILL);
  assert_all_gone(ranks);
}

static void idle_driver_killed(void** state) {
  (void)state;
  dead_driver(ASK_NOTHING, 8);
}
static void waiting_driver_killed(void** state) {
  (void)state;
  dead_driver(ASK_HANG, 64);
}

/* Supervisors on other machines get no signal: the closed connection has to do. */
static void distant_driver_killed(void** state) {
  (void)state;
  struct job job = launched_job(3);
  pid_t pids[] = {launch(job, 1, 0), launch(job, 2, 0)};
  pid_t driver = fork();
  if (driver == 0) {
    struct team* team = open_team(&job);
    start_team(team);
    assert_well(team);
    board->left_well[0] = 2;
    ask(team, ASK_HANG, -1, IN_TIME);
    _exit(0);
  }
  for (int64_t deadline = wire_clock() + IN_TIME; board->left_well[0] != 2; usleep(1000))
    assert_true(wire_clock() < deadline);
  kill(driver, SIGKILL);
  status_of(driver);
  for (int i = 0; i < 2; i++) assert_int_equal(status_of(pids[i]), SUPERVISOR_ALONE);
  assert_all_gone(3);
}

/* --- interruption */

static volatile sig_atomic_t interrupted;
static void on_alarm(int number) {
  (void)number;
  interrupted = 1;
}

static pid_t interrupt_in(int ms) {
  interrupted = 0;
  signal(SIGVTALRM, on_alarm);
  pid_t parent = getpid(), pid = fork();
  if (pid != 0) return pid;
  usleep((useconds_t)ms * 1000);
  _exit(kill(parent, SIGVTALRM));
}

static void interruption(void** state) {
  (void)state;
  struct job job = local_job(4);
  char fault[TEAM_TEXT] = "";
  interrupted = 0;
  struct team_settings settings = {.work = test_worker, .interrupted = &interrupted};
  struct team* team = team_open(&job, &settings, fault);
  assert_non_null(team);
  start_team(team);
  pid_t pid = interrupt_in(100);
  int64_t start = wire_clock();
  struct team_failure failure = ask(team, ASK_HANG, -1, IN_TIME);
  assert_in_range(wire_clock() - start, 0, IN_TIME / 2);
  assert_int_equal(status_of(pid), 0);
  assert_int_equal(failure.kind, TEAM_INTERRUPTED);
  assert_string_equal(failure.text, "interrupted");
  assert_false(team_start(team, &failure));
  assert_int_equal(failure.kind, TEAM_INTERRUPTED);
  interrupted = 0;
  start_team(team); /* it can go on where the caller wants to */
  assert_well(team);
  interrupted = 1;
  team_close(team); /* takes its time all the same */
  assert_all_gone(4);
  job = launched_job(2);
  pid = interrupt_in(300);
  assert_null(team_open(&job, &settings, fault));
  assert_string_equal(fault, "interrupted");
  assert_int_equal(status_of(pid), 0);
}

int main(void) {
#define ON_BOARD(test) cmocka_unit_test_setup_teardown(test, make_board, drop_board)
  const struct CMUnitTest tests[] = {
      ON_BOARD(hang_alone),
      ON_BOARD(hang_of_two),
      ON_BOARD(hang_of_eight),
      ON_BOARD(hang_of_many),
      ON_BOARD(deaths),
      ON_BOARD(long_words),
      ON_BOARD(between_calls),
      ON_BOARD(errors),
      ON_BOARD(death_behind_errors),
      ON_BOARD(worker_without_a_start),
      ON_BOARD(what_workers_start),
      ON_BOARD(lost_supervisor),
      ON_BOARD(ended_supervisor),
      ON_BOARD(idle_driver_killed),
      ON_BOARD(waiting_driver_killed),
      ON_BOARD(distant_driver_killed),
      ON_BOARD(interruption),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
