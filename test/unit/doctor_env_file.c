/* bench/doctor/env_file: settings as start scripts, Dockerfiles, Kubernetes and command lines write them. */
#include "doctor/env_file.h"

#include "decide.h"

/* "[2..3] NCCL_ALGO=ring@2 NCCL_PROTO=ll@3" for each set */
static struct sw_text sets_of(const struct env_file* file) {
  struct sw_text text = SW_TEXT_EMPTY;
  for (size_t s = 0; s < file->count; s++) {
    const struct env_set* set = &file->sets[s];
    sw_text_printf(&text, "%s[%u..%u]", s ? " " : "", set->first_line, set->last_line);
    for (size_t i = 0; i < set->count; i++)
      sw_text_printf(&text, " %s=%s@%u", set->items[i].name, set->items[i].value, set->items[i].line);
  }
  return text;
}

static void spellings(void** state) {
  (void)state;
  static const struct {
    const char *script, *sets;
  } cases[] = {
      {"", ""},
      {"\n\n# nothing\npython serve.py --tp 8 x=5\n", ""},
      {"A=1", "[1..1] A=1@1"},
      {"A=1\nB=2\n\nC=3\n", "[1..2] A=1@1 B=2@2 [4..4] C=3@4"},
      /* a comment ends no set, a line of blanks does */
      {"A=1\n# why\nB=2\n \t\nC=3", "[1..3] A=1@1 B=2@3 [5..5] C=3@5"},
      {"export A=1 B=2; export C=3", "[1..1] A=1@1 B=2@1 C=3@1"},
      {"A=1 B=2 python x.py", "[1..1] A=1@1 B=2@1"},
      {"docker run -e A=1 --env B=2 --env=C=3 -eD=4 image", "[1..1] A=1@1 B=2@1 C=3@1 D=4@1"},
      {"mpirun -x A=1 -np 8 \\\n  -x B=2 prog", "[1..2] A=1@1 B=2@2"},
      {"ENV A=1 B=2\nENV C 3\n", "[1..2] A=1@1 B=2@1 C=3@2"},
      {"env:\n  A: ring\n  B: \"2\"\n", "[2..3] A=ring@2 B=2@3"},
      {"- name: A\n  value: \"1\"\n- name: B\n  value: x\n", "[2..4] A=1@2 B=x@4"},
      {"environment:\n  - A=1\n  - \"B=2\"\n", "[2..3] A=1@2 B=2@3"},
      {"A=\"x y\" B='a\"b' C=a\\ b D=\"a\\\"b\"", "[1..1] A=x y@1 B=a\"b@1 C=a b@1 D=a\"b@1"},
      {"A=1 # B=2\nC=a#b", "[1..2] A=1@1 C=a#b@2"},
      /* a semicolon inside a value belongs to it */
      {"NCCL_ALGO=ring;allreduce:tree", "[1..1] NCCL_ALGO=ring;allreduce:tree@1"},
      {"A=1;\nB=2 ;", "[1..2] A=1@1 B=2@2"},
      {"A=1\r\nB=2\r\n\r\nC=3\r\n", "[1..2] A=1@1 B=2@2 [4..4] C=3@4"},
      {"A=1\nA=2\n", "[1..2] A=2@2"},
      {"A=\nB", "[1..1] A=@1"},
      {"A=\"never closed\nB=2", "[1..2] A=never closed@1 B=2@2"},
      {"A=1\\", "[1..1] A=1\\@1"},
      {"name: A\nvalue: 1", "[2..2] A=1@2"},
      {"value: 1\na=1\n9A=1\n=1", ""},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct env_file file;
    assert_true(env_file_parse(cases[i].script, "start.sh", &file));
    struct sw_text have = sets_of(&file);
    if (strcmp(sw_text_string(&have), cases[i].sets) != 0)
      fail_msg("%s:\n  have %s\n  want %s", cases[i].script, sw_text_string(&have), cases[i].sets);
    sw_text_free(&have);
    env_file_free(&file);
  }
}

static void use(void** state) {
  (void)state;
  struct env_set set = ENV_SET_EMPTY;
  env_set_put_pair(&set, "A=1", "environment", 0);
  env_set_put_pair(&set, "=x", "environment", 0);
  env_set_put_pair(&set, "B", "environment", 0);
  env_set_put(&set, "C", "", "environment", 0);
  assert_int_equal(set.count, 2);
  env_set_use(&set);
  assert_string_equal(env_set_getenv("A"), "1");
  assert_null(env_set_getenv("B"));
  assert_null(env_set_getenv("C")); /* "" is not set */
  env_set_put_pair(&set, "D=a\033[2Jb", "environment", 0);
  assert_string_equal(env_set_value(&set, "D"), "a?[2Jb");
  env_set_use(NULL);
  assert_null(env_set_getenv("A"));
  env_set_free(&set);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spellings), cmocka_unit_test(use)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
