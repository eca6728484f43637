/* bench/calibrate/in_flight and in_force: the choice that is tried on disk, and the settings of a run. */
#include "calibrate/in_flight.h"

#include <unistd.h>

#include "calibrate/in_force.h"
#include "ground/file.h"
#include "unit/decide.h"

#define TREE_LL_4 ((struct sw_choice){NCCL_ALGO_TREE, NCCL_PROTO_LL, 4})
#define EARLIER "reduce\t4\t1024\tauto\tauto\t2\n"
#define TREE_LL_4_LINE "allreduce\t8\t65536\ttree\tll\t4\n"

static const char path[] = "t.yaml.in-flight";
static struct in_flight file;
static struct ban_list bans;
static struct sw_text fault;

static char folder[] = "/tmp/sizewise-flight-XXXXXX";

static int enter_folder(void** state) {
  (void)state;
  return !mkdtemp(folder) || chdir(folder);
}

static int remove_folder(void** state) {
  (void)state;
  return rmdir(folder);
}

static int end(void** state) {
  (void)state;
  in_flight_free(&file);
  sw_text_free(&fault);
  bans = (struct ban_list){.count = 0};
  unlink(path);
  return 0;
}

static void put(const char* text) {
  FILE* out = fopen(path, "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
}

/* NULL: there is none. */
static void assert_file(const char* text) {
  char* got = NULL;
  size_t length;
  int fault_number = sw_file_read(path, 4096, &got, &length);
  if (!text) assert_int_not_equal(fault_number, 0);
  if (text) assert_string_equal(got, text);
  free(got);
}

static void the_choice_that_is_tried_is_there_and_goes(void** state) {
  (void)state;
  in_flight_open(&file, "t.yaml");
  assert_file(NULL);
  in_flight_set(&file, NCCL_ALLREDUCE, 8, 65536, TREE_LL_4);
  assert_file(TREE_LL_4_LINE);
  in_flight_set(&file, NCCL_REDUCE, 4, 1024, (struct sw_choice){-1, -1, 2});
  assert_file(EARLIER);
  in_flight_set(&file, NCCL_REDUCE, 4, 1024, SW_AUTO);
  assert_file(NULL);
  in_flight_set(&file, NCCL_ALLREDUCE, 8, 65536, TREE_LL_4);
  in_flight_close(&file);
  assert_file(NULL);
}

/* Fewer channels for whatever NCCL takes are a choice, too. */
static void channels_alone_are_named(void** state) {
  (void)state;
  in_flight_open(&file, "t.yaml");
  in_flight_set(&file, NCCL_ALLREDUCE, 8, 65536, (struct sw_choice){-1, -1, 2});
  assert_file("allreduce\t8\t65536\tauto\tauto\t2\n");
  in_flight_close(&file);
  assert_file(NULL);
}

static void what_is_left_is_banned_and_stays_until_the_end(void** state) {
  (void)state;
  put(EARLIER);
  in_flight_open(&file, "t.yaml");
  assert_true(file.there);
  assert_true(in_flight_read(&file, &bans, &fault));
  assert_int_equal(bans.count, 1);
  assert_int_equal(bans.items[0].bytes, 1024);
  assert_string_equal(ban_of(&bans, NCCL_REDUCE, 4, (struct sw_choice){-1, -1, 2}), "a run ended while it was tried");
  in_flight_set(&file, NCCL_ALLREDUCE, 8, 65536, TREE_LL_4);
  assert_file(EARLIER TREE_LL_4_LINE);
  in_flight_set(&file, NCCL_ALLREDUCE, 8, 65536, SW_AUTO);
  assert_file(EARLIER);
  in_flight_set(&file, NCCL_ALLREDUCE, 8, 65536, TREE_LL_4);
  in_flight_end(&file); /* the profile does not have it yet */
  assert_file(EARLIER);
  in_flight_close(&file);
  assert_file(NULL);
}

static void what_is_no_such_file_is_refused(void** state) {
  (void)state;
  static const char* const wrong[] = {"x",
                                      "allreduce\t8\t65536\ttree\tll\n",
                                      "allreduce\t8\t65536\ttree\tll\t4\t5\n",
                                      "allreduce\t8\t65536\ttree\tlll\t4\n",
                                      "allreduce\t8\t65536\tauto\tauto\t0\n",
                                      "allreduce\t8\t65536\ttree\tll\t65\n",
                                      "allreduce\t-8\t65536\ttree\tll\t4\n",
                                      TREE_LL_4_LINE "\n"};
  for (size_t i = 0; i < COUNT(wrong); i++) {
    put(wrong[i]);
    in_flight_open(&file, "t.yaml");
    if (in_flight_read(&file, &bans, &fault)) fail_msg("'%s' was read", wrong[i]);
    assert_string_equal(sw_text_string(&fault),
                        "t.yaml.in-flight names no choice that a run ended with; remove it to try all of them again");
    end(NULL);
  }
}

static void without_an_output_there_is_no_file(void** state) {
  (void)state;
  in_flight_open(&file, NULL);
  in_flight_set(&file, NCCL_ALLREDUCE, 8, 65536, TREE_LL_4);
  in_flight_close(&file);
  assert_false(file.there || file.failed);
}

static void settings_in_force(void** state) {
  (void)state;
  static char* const environment[] = {"PATH=/bin",           "NCCL_PROTO=LL,Simple",     "NCCL_ALGO=",
                                      "NCCL_DEBUG=INFO",     "NCCL_DEBUG_SUBSYS=TUNING", "NCCL_SIZEWISE_PROFILE=x",
                                      "NCCL_TUNER_PLUGIN=y", "NCCL_TUNER_PLUGINS=z",     "NCCL_BUFFSIZE=10\n\xff",
                                      "NCCL_lower=1",        "MY_NCCL_ALGO=ring",        NULL};
  struct sw_arena arena = SW_ARENA_EMPTY;
  struct sw_settings settings = in_force_read(environment, &arena);
  struct sw_text text = SW_TEXT_EMPTY;
  in_force_add(&text, &settings);
  assert_string_equal(sw_text_string(&text), "NCCL_BUFFSIZE=10??, NCCL_PROTO=LL,Simple, NCCL_TUNER_PLUGINS=z");
  sw_text_free(&text);
  sw_arena_free(&arena);
  settings = in_force_read((char* const[]){NULL}, &arena);
  in_force_add(&text, &settings);
  assert_string_equal(sw_text_string(&text), "none");
  sw_text_free(&text);
  sw_arena_free(&arena);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_choice_that_is_tried_is_there_and_goes),
      TEST(channels_alone_are_named),
      TEST(what_is_left_is_banned_and_stays_until_the_end),
      TEST(what_is_no_such_file_is_refused),
      TEST(without_an_output_there_is_no_file),
      TEST(settings_in_force),
  };
  return cmocka_run_group_tests(tests, enter_folder, remove_folder);
}
