/* bench/launch/team when all goes well: calls, answers, sizes, attempts, several teams, ranks that come by themselves.
 */
#include "launch_team.h"

#include <netinet/in.h>
#include <sys/socket.h>

static void one_team(uint32_t ranks) {
  struct team* team = started_team(ranks);
  char request[5] = {1, 2, 3, 4, 5}, replies[MOST][5];
  struct team_task task = {.type = ASK_ECHO,
                           .request = request,
                           .request_bytes = sizeof request,
                           .reply = replies,
                           .reply_bytes = sizeof replies[0],
                           .timeout_ms = IN_TIME};
  struct team_failure failure;
  for (char call = 0; call < 20; call++) {
    request[0] = call;
    memset(replies, 0x5a, sizeof replies);
    if (!team_call(team, &task, &failure)) fail_msg("%s", failure.text);
    for (uint32_t rank = 0; rank < ranks; rank++) {
      assert_int_equal(replies[rank][0], call + (char)rank);
      assert_int_equal(replies[rank][4], 5 + rank);
      assert_int_equal(board->attempts[rank], 1);
      assert_int_equal(board->groups[rank], board->workers[rank]);
      assert_true(strlen(team_host(team, rank)) > 0);
    }
  }
  assert_int_equal(team_attempt(team), 1);
  team_close(team);
  assert_all_gone(ranks);
  for (uint32_t rank = 0; rank < ranks; rank++) assert_int_equal(board->left_well[rank], 1);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left, not even as a zombie */
}

static void one_rank(void** state) {
  (void)state;
  one_team(1);
}
static void two_ranks(void** state) {
  (void)state;
  one_team(2);
}
static void eight_ranks(void** state) {
  (void)state;
  one_team(8);
}
static void many_ranks(void** state) {
  (void)state;
  one_team(64);
}

static void some_ranks(void** state) {
  (void)state;
  struct team* team = started_team(4);
  const uint32_t ranks[] = {3, 0};
  const char request[4] = {10, 11, 20, 21};
  char replies[2][2];
  struct team_failure failure;
  struct team_task task = {ASK_ECHO, ranks, 2, request, 2, 2, replies, 2, NULL, IN_TIME};
  if (!team_call(team, &task, &failure)) fail_msg("%s", failure.text);
  assert_memory_equal(replies, "\x0d\x0e\x14\x15", 4); /* each its own request, answers in the order of the list */
  task.request_stride = 0;
  assert_true(team_call(team, &task, &failure));
  assert_memory_equal(replies, "\x0d\x0e\x0a\x0b", 4);
  task.count = 0;
  assert_true(team_call(team, &task, &failure));
  team_close(team);
}

static void sizes_of_answers(void** state) {
  (void)state;
  struct team* team = started_team(8);
  char replies[8][7];
  size_t sizes[8];
  struct team_failure failure;
  struct team_task task = {
      .type = ASK_GROW, .reply = replies, .reply_bytes = 7, .reply_sizes = sizes, .timeout_ms = IN_TIME};
  if (!team_call(team, &task, &failure)) fail_msg("%s", failure.text);
  for (size_t rank = 0; rank < 8; rank++) assert_int_equal(sizes[rank], rank);
  task.reply_bytes = 6;
  assert_false(team_call(team, &task, &failure));
  assert_int_equal(failure.kind, TEAM_ERROR);
  assert_string_equal(failure.text, "rank 7 answered 7 bytes where at most 6 were expected");
  start_team(team);
  task = (struct team_task){.type = ASK_GROW, .reply = replies, .reply_bytes = 7, .timeout_ms = IN_TIME};
  assert_false(team_call(team, &task, &failure));
  assert_non_null(strstr(failure.text, "bytes where 7 were expected"));
  team_close(team);
}

static void large_messages(void** state) {
  (void)state;
  struct team* team = started_team(2);
  char* request = malloc(WIRE_LARGEST);
  char* replies = calloc(2, WIRE_LARGEST);
  memset(request, 'a', WIRE_LARGEST);
  struct team_failure failure;
  struct team_task task = {.type = ASK_ECHO,
                           .request = request,
                           .request_bytes = WIRE_LARGEST,
                           .reply = replies,
                           .reply_bytes = WIRE_LARGEST,
                           .timeout_ms = IN_TIME};
  if (!team_call(team, &task, &failure)) fail_msg("%s", failure.text);
  for (size_t i = 0; i < WIRE_LARGEST; i++)
    if (replies[i] != 'a' || replies[WIRE_LARGEST + i] != 'b') fail_msg("byte %zu", i);
  task.request_bytes = WIRE_LARGEST + (size_t)1;
  assert_false(team_call(team, &task, &failure));
  assert_string_equal(failure.text, "a request that cannot be sent");
  free(request);
  free(replies);
  team_close(team);
}

static void senseless_calls(void** state) {
  (void)state;
  struct job job = local_job(2);
  struct team* team = open_team(&job);
  assert_string_equal(ask(team, ASK_NOTHING, -1, IN_TIME).text, "no workers have been started");
  static const uint32_t lists[][2] = {{0, 0}, {0, 2}};
  struct team_failure failure;
  for (int i = 0; i < 2; i++) {
    start_team(team);
    struct team_task task = {.type = ASK_NOTHING, .ranks = lists[i], .count = 2, .timeout_ms = IN_TIME};
    assert_false(team_call(team, &task, &failure));
    assert_string_equal(failure.text, "a request that cannot be sent");
  }
  start_team(team);
  assert_string_equal(ask(team, WIRE_FIRST_RESERVED, -1, IN_TIME).text, "a request that cannot be sent");
  team_close(team);
}

static void attempts(void** state) {
  (void)state;
  struct job job = local_job(8);
  struct team* team = open_team(&job);
  assert_int_equal(team_attempt(team), 0);
  pid_t before[8] = {0};
  for (uint32_t attempt = 1; attempt <= 4; attempt++) {
    start_team(team);
    assert_well(team);
    assert_int_equal(team_attempt(team), attempt);
    for (int rank = 0; rank < 8; rank++) {
      assert_int_equal(board->attempts[rank], attempt);
      if (before[rank]) assert_gone(before[rank], "the worker before");
      assert_int_not_equal(board->workers[rank], before[rank]);
      before[rank] = board->workers[rank];
    }
  }
  team_close(team);
  assert_all_gone(8);
}

static void closed_early(void** state) {
  (void)state;
  struct job job = local_job(4);
  team_close(open_team(&job));
  team_close(NULL);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Neither keeps the other's connections alive. */
static void two_teams(void** state) {
  (void)state;
  struct team* first = started_team(4);
  assert_well(first);
  struct board seen = *board;
  struct team* second = started_team(4);
  assert_well(second);
  assert_int_equal(ask(second, ASK_CRASH, 1, IN_TIME).kind, TEAM_DIED);
  assert_well(first);
  team_close(first);
  for (int rank = 0; rank < 4; rank++) assert_gone(seen.supervisors[rank], "a supervisor of the first team");
  start_team(second);
  assert_well(second);
  team_close(second);
  assert_all_gone(4);
}

/* --- ranks that a launcher started */

static char said[2000];
static void note_progress(void* context, const char* text) {
  (void)context;
  strncat(said, text, sizeof said - strlen(said) - 1);
  strncat(said, "\n", sizeof said - strlen(said) - 1);
}

static void launched_ranks(void** state) {
  (void)state;
  struct job job = launched_job(4);
  pid_t pids[4];
  for (uint32_t rank = 1; rank < 4; rank++) pids[rank] = launch(job, rank, rank == 3 ? 600 : 0);
  char fault[TEAM_TEXT] = "";
  said[0] = '\0';
  struct team* team = team_open(&job, &(struct team_settings){.work = test_worker, .progress = note_progress}, fault);
  if (!team) fail_msg("%s", fault);
  const char* last = strstr(said, "waiting for 1 of 4 ranks: 3\n"); /* those before may be late as well */
  assert_non_null(last);
  assert_int_equal(strlen(last), strlen("waiting for 1 of 4 ranks: 3\n"));
  start_team(team);
  assert_well(team);
  struct team_failure failure = ask(team, ASK_FAIL, 2, IN_TIME);
  char host[PROTOCOL_HOST] = "", expected[128];
  gethostname(host, sizeof host - 1);
  snprintf(expected, sizeof expected, "rank 2 on %s: NCCL says ?no", host);
  assert_string_equal(failure.text, expected);
  start_team(team);
  assert_well(team);
  team_close(team);
  for (uint32_t rank = 1; rank < 4; rank++) assert_int_equal(status_of(pids[rank]), SUPERVISOR_DONE);
  assert_all_gone(4);
}

/* The driver comes last: the others knock until it is there. */
static void late_driver(void** state) {
  (void)state;
  struct job job = launched_job(2);
  pid_t pid = launch(job, 1, 0);
  usleep(500000);
  struct team* team = open_team(&job);
  start_team(team);
  assert_well(team);
  team_close(team);
  assert_int_equal(status_of(pid), SUPERVISOR_DONE);
}

int main(void) {
#define ON_BOARD(test) cmocka_unit_test_setup_teardown(test, make_board, drop_board)
  const struct CMUnitTest tests[] = {
      ON_BOARD(one_rank),    ON_BOARD(two_ranks),        ON_BOARD(eight_ranks),    ON_BOARD(many_ranks),
      ON_BOARD(some_ranks),  ON_BOARD(sizes_of_answers), ON_BOARD(large_messages), ON_BOARD(senseless_calls),
      ON_BOARD(attempts),    ON_BOARD(closed_early),     ON_BOARD(two_teams),      ON_BOARD(launched_ranks),
      ON_BOARD(late_driver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
