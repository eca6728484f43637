/* plugin/select: profiles that nobody named, found in the searched folders. */
#include "select_cases.h"

#define TELL                                                                                      \
  "@/p/a.yaml fits, but on several nodes a profile applies only when every rank is told so: set " \
  "NCCL_SIZEWISE_PROFILE=@/p/a.yaml NCCL_SIZEWISE_EXPECT=# on all of them"

static const struct select_case found[] = {
    CASE("nothing anywhere", {{0}}, "", 0, 4, 1, SW_LEFT_TO_NCCL, 0, SHIPPED_OFF, 0),
    CASE("shipped ones, although all fits", {{0}}, "", "rtx-pro-6000-pcie", 8, 1, SW_LEFT_TO_NCCL, 0, SHIPPED_OFF, 0),
    CASE("one node", A_LOCAL, WHERE, 0, 4, 1, SW_APPLIES, "@/p/a.yaml", "fits this machine", 0),
    CASE("one node, empty folder names", A_LOCAL, "NCCL_SIZEWISE_PATH=::@/p:", 0, 4, 1, SW_APPLIES, "@/p/a.yaml",
         "fits this machine", 0),
    CASE("several nodes", A_WIDE, WHERE, 0, 4, 2, SW_LEFT_TO_NCCL, 0, TELL, 0),
    CASE("another shape", A_LOCAL, WHERE, 0, 2, 1, SW_LEFT_TO_NCCL, 0,
         "no profile fits: @/p/a.yaml: no table for 2 ranks on 1 node", 0),
    CASE("other hardware", A_LOCAL, WHERE, "h200-ib", 4, 1, SW_LEFT_TO_NCCL, 0,
         "no profile fits: @/p/a.yaml: gpu is 'NVIDIA H200', not '*GB10*'", 0),
    CASE("unknown hardware", A_LOCAL, WHERE, "bare", 4, 1, SW_LEFT_TO_NCCL, 0,
         "no profile fits: @/p/a.yaml: gpu is not known here, and has to be '*GB10*'", 0),
    CASE("mixed GPUs", {{"p/a.yaml", LOCAL("a", "gpu: '*RTX PRO 6000*'")}}, WHERE, "mixed-gpus", 4, 1, SW_LEFT_TO_NCCL,
         0, "no profile fits: @/p/a.yaml: this node holds GPUs of different models, so gpu is open", 0),
    CASE("mixed GPUs, any GPU", {{"p/a.yaml", LOCAL("a", "arch: x86_64")}}, WHERE, "mixed-gpus", 4, 1, SW_APPLIES,
         "@/p/a.yaml", "fits this machine", 0),
    CASE("simulated", {{"p/a.yaml", SHAPED("a", "simulated", "", "1")}}, WHERE, 0, 4, 1, SW_LEFT_TO_NCCL, 0,
         "no profile fits: @/p/a.yaml: simulated, applies only when named", 0),
    CASE("published", {{"p/a.yaml", SHAPED("a", "published", "", "1")}}, WHERE, 0, 4, 1, SW_LEFT_TO_NCCL, 0,
         "no profile fits: @/p/a.yaml: published, applies only when named", 0),
    CASE("a tie", {{"p/a.yaml", LOCAL("a", GB10)}, {"q/b.yaml", LOCAL("b", GB10)}}, WHERE, 0, 4, 1, SW_LEFT_TO_NCCL, 0,
         "several profiles fit equally well",
         "several profiles fit equally well: @/p/a.yaml, @/q/b.yaml; set NCCL_SIZEWISE_PROFILE to one [SW-403]"),
    CASE("a tie on several nodes", {{"p/a.yaml", WIDE("a", GB10)}, {"p/b.yaml", WIDE("b", GB10)}}, WHERE, 0, 4, 2,
         SW_LEFT_TO_NCCL, 0, "several profiles fit equally well",
         "several profiles fit equally well: @/p/a.yaml, @/p/b.yaml; set NCCL_SIZEWISE_PROFILE to one [SW-403]"),
    CASE("the more specific, first", {{"p/a.yaml", LOCAL("a", GB10 ", net: roce")}, {"p/b.yaml", LOCAL("b", GB10)}},
         WHERE, 0, 4, 1, SW_APPLIES, "@/p/a.yaml", "fits this machine", 0),
    CASE("the more specific, last", {{"p/b.yaml", LOCAL("b", GB10 ", net: roce")}, {"p/a.yaml", LOCAL("a", GB10)}},
         WHERE, 0, 4, 1, SW_APPLIES, "@/p/b.yaml", "fits this machine", 0),
    CASE("a tie of less specific ones",
         {{"p/a.yaml", LOCAL("a", GB10)},
          {"p/b.yaml", LOCAL("b", GB10)},
          {"p/c.yaml", LOCAL("c", GB10 ", arch: aarch64")}},
         WHERE, 0, 4, 1, SW_APPLIES, "@/p/c.yaml", "fits this machine", 0),
    CASE("a more specific one that does not fit",
         {{"p/a.yaml", LOCAL("a", GB10)}, {"p/b.yaml", LOCAL("b", GB10 ", net: ib")}}, WHERE, 0, 4, 1, SW_APPLIES,
         "@/p/a.yaml", "fits this machine", 0),
    CASE("the same file in two folders", {{"p/a.yaml", LOCAL("a", GB10)}, {"q/a.yaml", LOCAL("a", GB10)}}, WHERE, 0, 4,
         1, SW_APPLIES, "@/p/a.yaml", "fits this machine", 0),
    CASE("the same but for a comment", {{"p/a.yaml", LOCAL("a", GB10)}, {"q/z.yaml", "# copied\n" LOCAL("a", GB10)}},
         WHERE, 0, 4, 1, SW_APPLIES, "@/p/a.yaml", "fits this machine", 0),
    CASE("a copy of one that ties",
         {{"p/a.yaml", LOCAL("a", GB10)}, {"p/b.yaml", LOCAL("b", GB10)}, {"q/b.yaml", LOCAL("b", GB10)}}, WHERE, 0, 4,
         1, SW_LEFT_TO_NCCL, 0, "several profiles fit equally well",
         "several profiles fit equally well: @/p/a.yaml, @/p/b.yaml, @/q/b.yaml; set NCCL_SIZEWISE_PROFILE to one "
         "[SW-403]"),
    CASE("an invalid file beside a good one", {{"p/b.yaml", LOCAL("b", GB10)}, {"p/a.yaml", BROKEN}}, WHERE, 0, 4, 1,
         SW_APPLIES, "@/p/b.yaml", "fits this machine",
         "skipped an invalid profile [SW-406]: @/p/a.yaml:3:1: error: unknown key 'provenanc' in a profile; did you "
         "mean "
         "'provenance'? "
         "[SW-201]"),
    CASE("an invalid file alone", {{"p/a.yaml", BROKEN}}, WHERE, 0, 4, 1, SW_LEFT_TO_NCCL, 0,
         "no profile fits: @/p/a.yaml: invalid",
         "skipped an invalid profile [SW-406]: @/p/a.yaml:3:1: error: unknown key 'provenanc' in a profile; did you "
         "mean "
         "'provenance'? "
         "[SW-201]"),
    CASE("a missing folder", A_LOCAL, "NCCL_SIZEWISE_PATH=@/p:@/gone", 0, 4, 1, SW_APPLIES, "@/p/a.yaml",
         "fits this machine", "NCCL_SIZEWISE_PATH: @/gone: No such file or directory [SW-408]"),
    CASE("a file for a folder", A_LOCAL, "NCCL_SIZEWISE_PATH=@/p:@/p/a.yaml", 0, 4, 1, SW_APPLIES, "@/p/a.yaml",
         "fits this machine", "NCCL_SIZEWISE_PATH: @/p/a.yaml: Not a directory [SW-408]"),
    CASE("a missing folder in strict mode", A_LOCAL, "NCCL_SIZEWISE_PATH=@/p:@/gone|NCCL_SIZEWISE_STRICT=1", 0, 4, 1,
         SW_APPLIES, "@/p/a.yaml", "fits this machine",
         "NCCL_SIZEWISE_PATH: @/gone: No such file or directory [SW-408]"),
    CASE("a rule for any shape",
         {{"p/a.yaml", PROFILE("a", "measured", GB10, "rules: [{collective: reduce, channels: 1}]")}}, WHERE, 0, 3, 1,
         SW_APPLIES, "@/p/a.yaml", "fits this machine", 0),
};

static void profiles_that_are_found(void** state) {
  (void)state;
  check_all(found, COUNT(found));
}

/* Copied into a folder it was still measured elsewhere; so too with another comment, even if called measured. */
static void shipped_profiles_in_a_folder(void** state) {
  (void)state;
  const struct select_case copied = {"copied",
                                     {{"p/x.yaml", shipped_text("rtx-pro-6000-pcie-8")}},
                                     WHERE,
                                     "rtx-pro-6000-pcie",
                                     8,
                                     1,
                                     SW_LEFT_TO_NCCL,
                                     0,
                                     "no profile fits: @/p/x.yaml: shipped, applies only when named",
                                     0};
  check(&copied);
  const struct select_case by_name = {"copied and named",
                                      {{"p/x.yaml", shipped_text("rtx-pro-6000-pcie-8")}},
                                      WHERE "|" NAMED "x",
                                      "rtx-pro-6000-pcie",
                                      8,
                                      1,
                                      SW_APPLIES,
                                      "@/p/x.yaml",
                                      BY_NAME,
                                      0};
  check(&by_name);
}

/* Nor would a shipped one that was measured, if there were one. */
static void a_measured_shipped_profile(void** state) {
  (void)state;
  host_clean();
  host_write("p/a.yaml", LOCAL("a", ""));
  host_set("NCCL_SIZEWISE_PATH=@/p");
  struct sw_facts_source source = {.root = host_folder(), .getenv = real_getenv};
  struct sw_library* library = sw_library_load(&source);
  assert_int_equal(library->entries[0].shipped, false);
  sw_facts_set_shape(&library->machine, 4, 1);
  for (int shipped = 0; shipped < 2; shipped++) {
    library->entries[0].shipped = shipped;
    struct sw_selection selection = sw_select(library, &library->machine);
    assert_int_equal(selection.outcome, shipped ? SW_LEFT_TO_NCCL : SW_APPLIES);
    sw_selection_free(&selection);
  }
  sw_library_free(library);
}

/* Nobody has to create the default folders. */
static void missing_default_folders(void** state) {
  (void)state;
  host_set("NCCL_SIZEWISE_PATH=");
  struct sw_facts_source source = {.root = host_folder(), .getenv = real_getenv};
  struct sw_library* library = sw_library_load(&source);
  for (size_t i = 0; i < library->warning_count; i++)
    assert_null(strstr(sw_text_string(&library->warnings[i]), "[SW-408]"));
  assert_int_equal(library->refusal.length, 0);
  sw_library_free(library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(profiles_that_are_found),
      cmocka_unit_test(shipped_profiles_in_a_folder),
      cmocka_unit_test(a_measured_shipped_profile),
      cmocka_unit_test(missing_default_folders),
  };
  return cmocka_run_group_tests(tests, select_start, host_leave);
}
