/* plugin/select: a profile that NCCL_SIZEWISE_PROFILE names or NCCL_SIZEWISE_EXPECT pins, and what must not start. */
#include "select_cases.h"

static const struct select_case named[] = {
    CASE("a path", A_WIDE, NAMED "@/p/a.yaml", 0, 4, 2, SW_APPLIES, "@/p/a.yaml", BY_NAME, 0),
    CASE("a path needs no ending", {{"p/a", WIDE("a", GB10)}}, NAMED "@/p/a", 0, 4, 2, SW_APPLIES, "@/p/a", BY_NAME, 0),
    CASE("a name in a folder", A_WIDE, WHERE "|" NAMED "a", 0, 4, 2, SW_APPLIES, "@/p/a.yaml", BY_NAME, 0),
    CASE("a name in the second folder", {{"q/a.yaml", WIDE("a", GB10)}}, WHERE "|" NAMED "a", 0, 4, 2, SW_APPLIES,
         "@/q/a.yaml", BY_NAME, 0),
    CASE("the first folder wins", {{"p/a.yaml", WIDE("a", GB10)}, {"q/a.yaml", WIDE("b", GB10)}}, WHERE "|" NAMED "a",
         0, 4, 2, SW_APPLIES, "@/p/a.yaml", BY_NAME, 0),
    CASE("shipped", {{0}}, NAMED "gb10-roce-8x1", 0, 8, 8, SW_APPLIES, "shipped", BY_NAME, 0),
    CASE("a folder goes before what is shipped", {{"p/gb10-roce-8x1.yaml", WIDE("a", GB10)}},
         WHERE "|" NAMED "gb10-roce-8x1", 0, 4, 2, SW_APPLIES, "@/p/gb10-roce-8x1.yaml", BY_NAME, 0),
    CASE("published", {{"p/a.yaml", SHAPED("a", "published", GB10, "1")}}, NAMED "@/p/a.yaml", 0, 4, 1, SW_APPLIES,
         "@/p/a.yaml", BY_NAME, 0),
    CASE("simulated", {{"p/a.yaml", SHAPED("a", "simulated", GB10, "1")}}, NAMED "@/p/a.yaml", 0, 4, 1, SW_APPLIES,
         "@/p/a.yaml", BY_NAME, 0),
    CASE("what else lies there is not read", {{"p/a.yaml", WIDE("a", GB10)}, {"p/b.yaml", BROKEN}},
         WHERE "|" NAMED "a|NCCL_SIZEWISE_STRICT=1", 0, 4, 2, SW_APPLIES, "@/p/a.yaml", BY_NAME, 0),
    CASE("another shape", A_WIDE, NAMED "@/p/a.yaml", 0, 4, 1, SW_LEFT_TO_NCCL, 0,
         "profile a has no table for 4 ranks on 1 node", 0),
    CASE("one rank", A_WIDE, NAMED "@/p/a.yaml", 0, 1, 1, SW_LEFT_TO_NCCL, 0,
         "profile a has no table for 1 rank on 1 node", 0),
    CASE("other hardware", A_WIDE, NAMED "@/p/a.yaml", "h200-ib", 4, 2, SW_APPLIES, "@/p/a.yaml", BY_NAME,
         "profile a was named and is used, but it was measured on other hardware: here gpu is 'NVIDIA H200', not "
         "'*GB10*' "
         "[SW-404]"),
    CASE("other hardware, and another shape", A_WIDE, NAMED "@/p/a.yaml", "h200-ib", 4, 1, SW_LEFT_TO_NCCL, 0,
         "profile a has no table for 4 ranks on 1 node", 0),
    CASE("unknown hardware", A_WIDE, NAMED "@/p/a.yaml", "bare", 4, 2, SW_APPLIES, "@/p/a.yaml", BY_NAME, 0),
    CASE("mixed hardware", A_WIDE, NAMED "@/p/a.yaml", "mixed-gpus", 4, 2, SW_APPLIES, "@/p/a.yaml", BY_NAME, 0),
    CASE("off", A_LOCAL, WHERE "|" NAMED "off", 0, 4, 1, SW_LEFT_TO_NCCL, 0,
         "switched off by NCCL_SIZEWISE_PROFILE=off", 0),
};

static const struct select_case refused[] = {
    CASE("no such name", {{0}}, WHERE "|" NAMED "xyz", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_PROFILE: no profile 'xyz': no file of that name in @/p:@/q, and no shipped profile; shipped "
         "are " SHIPPED " [SW-401]",
         0),
    CASE("a misspelt name", {{0}}, WHERE "|" NAMED "gb10-roce-8xl", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_PROFILE: no profile 'gb10-roce-8xl': no file of that name in @/p:@/q, and no shipped profile; "
         "did "
         "you "
         "mean 'gb10-roce-8x1'? [SW-401]",
         0),
    CASE("no such file", {{0}}, NAMED "@/p/x.yaml", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_PROFILE: @/p/x.yaml: error: No such file or directory [SW-101]", 0),
    CASE("an ending makes a path of a name", {{"p/a.yaml", LOCAL("a", GB10)}}, WHERE "|" NAMED "a.yaml", 0, 4, 1,
         SW_REFUSED, 0, "NCCL_SIZEWISE_PROFILE: a.yaml: error: No such file or directory [SW-101]", 0),
    CASE("a folder", {{0}}, NAMED "@/p", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_PROFILE: @/p: error: Is a directory [SW-101]", 0),
    CASE("an empty file", {{"p/a.yaml", ""}}, NAMED "@/p/a.yaml|", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_PROFILE: @/p/a.yaml: error: the file is empty [SW-108]", 0),
    CASE("an invalid file", {{"p/a.yaml", BROKEN}}, NAMED "@/p/a.yaml", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_PROFILE: @/p/a.yaml:3:1: error: unknown key 'provenanc' in a profile; did you mean "
         "'provenance'? "
         "[SW-201]",
         0),
    CASE("a file with several errors", {{"p/a.yaml", BROKEN "foo: 1\n"}}, NAMED "@/p/a.yaml", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_PROFILE: @/p/a.yaml:3:1: error: unknown key 'provenanc' in a profile; did you mean "
         "'provenance'? "
         "[SW-201] (and 1 more; 'sizewise check' shows all)",
         0),
    CASE("another digest", A_LOCAL, NAMED "@/p/a.yaml|NCCL_SIZEWISE_EXPECT=" ZEROS, 0, 4, 1, SW_REFUSED, 0,
         "profile a (@/p/a.yaml) has digest #, but NCCL_SIZEWISE_EXPECT is " ZEROS " [SW-402]", 0),
    CASE("another digest, also where the shape is another", A_LOCAL, NAMED "@/p/a.yaml|NCCL_SIZEWISE_EXPECT=" ZEROS, 0,
         2, 1, SW_REFUSED, 0, "profile a (@/p/a.yaml) has digest #, but NCCL_SIZEWISE_EXPECT is " ZEROS " [SW-402]", 0),
    CASE("a pin that nothing has", A_LOCAL, WHERE "|NCCL_SIZEWISE_EXPECT=" ZEROS, 0, 4, 1, SW_REFUSED, 0,
         "no profile in @/p:@/q, and no shipped one, has the digest " ZEROS " of NCCL_SIZEWISE_EXPECT [SW-402]", 0),
    CASE("off, but pinned", {{0}}, NAMED "off|NCCL_SIZEWISE_EXPECT=" ZEROS, 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_PROFILE=off, but NCCL_SIZEWISE_EXPECT pins a profile that every rank must have; unset it too "
         "[SW-402]",
         0),
    CASE("pinned, on other hardware", A_WIDE, WHERE "|NCCL_SIZEWISE_EXPECT=#", "h200-ib", 4, 2, SW_REFUSED, 0,
         "profile a is pinned, but it was measured on other hardware: here gpu is 'NVIDIA H200', not '*GB10*' [SW-409]",
         0),
    CASE("named and pinned, on other hardware", A_WIDE, NAMED "@/p/a.yaml|NCCL_SIZEWISE_EXPECT=#", "h200-ib", 4, 2,
         SW_REFUSED, 0,
         "profile a is pinned, but it was measured on other hardware: here gpu is 'NVIDIA H200', not '*GB10*' [SW-409]",
         0),
    CASE("pinned, on other hardware, for another shape", A_WIDE, WHERE "|NCCL_SIZEWISE_EXPECT=#", "h200-ib", 8, 2,
         SW_REFUSED, 0,
         "profile a is pinned, but it was measured on other hardware: here gpu is 'NVIDIA H200', not '*GB10*' [SW-409]",
         0),
    CASE("a malformed pin", A_LOCAL, WHERE "|NCCL_SIZEWISE_EXPECT=abc", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_EXPECT='abc': it takes a digest of 32 hexadecimal digits, as 'sizewise check FILE' prints it "
         "[SW-407]",
         0),
    CASE("a malformed switch", A_LOCAL, WHERE "|NCCL_SIZEWISE_STRICT=si", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_STRICT='si': it takes 1 or 0 [SW-407]", 0),
    CASE("a malformed switch, although off", A_LOCAL, NAMED "off|NCCL_SIZEWISE_STRICT=si", 0, 4, 1, SW_REFUSED, 0,
         "NCCL_SIZEWISE_STRICT='si': it takes 1 or 0 [SW-407]", 0),
    CASE(
        "strict, and invalid files", {{"p/b.yaml", LOCAL("b", GB10)}, {"q/a.yaml", BROKEN}, {"q/b.yaml", "x"}},
        WHERE "|NCCL_SIZEWISE_STRICT=1", 0, 4, 1, SW_REFUSED, 0,
        "NCCL_SIZEWISE_STRICT forbids an invalid profile [SW-406]: @/q/a.yaml:3:1: error: unknown key 'provenanc' in a "
        "profile; did you mean 'provenance'? [SW-201]",
        0),
};

static const struct select_case pinned[] = {
    CASE("a pinned file of a folder, on several nodes", {{"q/a.yaml", WIDE("a", GB10)}},
         WHERE "|NCCL_SIZEWISE_EXPECT=#", 0, 4, 2, SW_APPLIES, "@/q/a.yaml", PINNED, 0),
    CASE("a pinned one among several that fit", {{"p/b.yaml", LOCAL("b", GB10)}, {"p/a.yaml", LOCAL("a", GB10)}},
         WHERE "|NCCL_SIZEWISE_EXPECT=#", 0, 4, 1, SW_APPLIES, "@/p/b.yaml", PINNED, 0),
    CASE("a pinned shipped one", {{0}}, "NCCL_SIZEWISE_EXPECT=$", 0, 8, 8, SW_APPLIES, "shipped", PINNED, 0),
    CASE("a pinned simulated one", {{"p/a.yaml", SHAPED("a", "simulated", GB10, "2")}}, WHERE "|NCCL_SIZEWISE_EXPECT=#",
         0, 4, 2, SW_APPLIES, "@/p/a.yaml", PINNED, 0),
    CASE("pinned, where nothing is known", A_WIDE, WHERE "|NCCL_SIZEWISE_EXPECT=#", "bare", 4, 2, SW_APPLIES,
         "@/p/a.yaml", PINNED, 0),
    CASE("named and pinned", A_WIDE, NAMED "@/p/a.yaml|NCCL_SIZEWISE_EXPECT=#", 0, 4, 2, SW_APPLIES, "@/p/a.yaml",
         BY_NAME, 0),
    CASE("pinned, another shape", A_WIDE, WHERE "|NCCL_SIZEWISE_EXPECT=#", 0, 4, 1, SW_LEFT_TO_NCCL, 0,
         "profile a has no table for 4 ranks on 1 node", 0),
};

static void profiles_that_are_named(void** state) {
  (void)state;
  check_all(named, COUNT(named));
}

static void what_must_not_start(void** state) {
  (void)state;
  check_all(refused, COUNT(refused));
}

static void profiles_that_are_pinned(void** state) {
  (void)state;
  check_all(pinned, COUNT(pinned));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(profiles_that_are_named),
      cmocka_unit_test(what_must_not_start),
      cmocka_unit_test(profiles_that_are_pinned),
  };
  return cmocka_run_group_tests(tests, select_start, host_leave);
}
