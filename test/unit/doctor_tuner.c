/* bench/doctor: which tuner NCCL would load, or has loaded. The libraries are the stand-in's fake tuners and our own.
 */
#include "doctor.h"
#include "doctor_root.h"

#include <unistd.h>

#include "doctor/library_search.h"

/* A library at a path below the root: a link to a built one. */
static void install(const char* path, const char* name) {
  assert_int_equal(symlink(built(name), below_root(path)), 0);
}

static void examine(const char* script, const char* nccl, struct examined* out) {
  examine_set(script, 0, (struct question){.root = root, .nccl = nccl, .home = "/home/me"}, out);
}

/* --- what would be loaded ---------------------------------------------------------------------------------------- */

static void assert_tuner(const struct examined* examined, const char* path, const char* who) {
  const struct tuner_view* tuner = &examined->diagnosis.tuner;
  assert_string_equal(sw_text_string(&tuner->path), path);
  assert_string_equal(sw_text_string(&tuner->who), who);
}

static void nobody(void** state) {
  (void)state;
  struct examined examined;
  examine("", "2.28.9", &examined);
  assert_tuner(&examined, "", "");
  assert_codes(&examined, "0");
  forget(&examined);
}

static void hijack(void** state) {
  (void)state;
  struct examined examined;
  install("/usr/lib/libnccl-tuner.so", "libfake-v4.so");
  examine("", "2.28.9", &examined);
  assert_tuner(&examined, "/usr/lib/libnccl-tuner.so", "nobody asked; it lies in a standard folder");
  assert_int_equal(examined.diagnosis.tuner.interface, 4);
  assert_codes(&examined, "610 0");
  assert_says(&examined, "a tuner that nobody asked for would decide: /usr/lib/libnccl-tuner.so");
  forget(&examined);
  examine("NCCL_TUNER_PLUGIN=NONE", "2.28.9", &examined);
  assert_tuner(&examined, "", "");
  assert_codes(&examined, "0 0");
  forget(&examined);
  /* LD_LIBRARY_PATH goes first */
  install("/opt/lib/libnccl-tuner.so", "libfake-v2v6.so");
  examine("LD_LIBRARY_PATH=/nothing:/opt/lib", "2.28.9", &examined);
  assert_tuner(&examined, "/opt/lib/libnccl-tuner.so", "nobody asked; it lies in LD_LIBRARY_PATH");
  assert_int_equal(examined.diagnosis.tuner.interface, 2); /* 2.28 does not ask for v6 */
  forget(&examined);
}

static void inside_net_plugin(void** state) {
  (void)state;
  struct examined examined;
  install("/usr/lib/libnccl-net-cloud.so", "libfake-v5.so");
  examine("NCCL_NET_PLUGIN=cloud", "2.28.9", &examined);
  assert_tuner(&examined, "/usr/lib/libnccl-net-cloud.so", "NCCL_NET_PLUGIN, start.sh:1");
  assert_true(examined.diagnosis.tuner.in_net);
  assert_codes(&examined, "610 0");
  assert_says(&examined, "inside the net plugin");
  forget(&examined);
  examine("NCCL_NET_PLUGIN=None", "2.28.9", &examined);
  assert_tuner(&examined, "", "");
  forget(&examined);
  /* where a named tuner is not there NCCL goes on to it, too */
  examine("NCCL_NET_PLUGIN=cloud\nNCCL_TUNER_PLUGIN=mine", "2.28.9", &examined);
  assert_tuner(&examined, "/usr/lib/libnccl-net-cloud.so", "NCCL_NET_PLUGIN, start.sh:1");
  assert_codes(&examined, "609 610 0");
  assert_says(&examined, "NCCL takes the one inside the net plugin.");
  forget(&examined);
  /* a net plugin without a tuner is nothing to speak of */
  install("/usr/lib/libnccl-net.so", "libfake-none.so");
  examine("", "2.28.9", &examined);
  assert_tuner(&examined, "", "");
  assert_codes(&examined, "0");
  forget(&examined);
}

static void named(void** state) {
  (void)state;
  struct examined examined;
  install("/usr/lib/libnccl-tuner-mine.so", "../libnccl-tuner-sizewise.so");
  examine("NCCL_TUNER_PLUGIN=mine", "2.30.7", &examined);
  assert_tuner(&examined, "/usr/lib/libnccl-tuner-mine.so", "NCCL_TUNER_PLUGIN, start.sh:1");
  assert_true(examined.diagnosis.tuner.exports.sizewise);
  assert_int_equal(examined.diagnosis.tuner.interface, 6);
  assert_codes(&examined, "0");
  forget(&examined);
  /* lib*.so and paths are taken as they are */
  examine("NCCL_TUNER_PLUGIN=libmine.so", NULL, &examined);
  assert_codes(&examined, "609 0");
  assert_says(&examined, "NCCL_TUNER_PLUGIN=libmine.so: there is no such library");
  forget(&examined);
  examine("NCCL_TUNER_PLUGIN=/opt/mine", NULL, &examined);
  assert_says(&examined, "Looked at: that path.");
  forget(&examined);
}

static void no_tuner_inside(void** state) {
  (void)state;
  struct examined examined;
  install("/opt/libempty.so", "libfake-none.so");
  write_file("/opt/text.so", "no library", 10);
  install("/opt/libnew.so", "libfake-v7.so");
  examine("NCCL_TUNER_PLUGIN=/opt/libempty.so", "2.28.9", &examined);
  assert_codes(&examined, "609 0");
  assert_says(&examined, "/opt/libempty.so is no tuner library");
  forget(&examined);
  examine("NCCL_TUNER_PLUGIN=/opt/text.so", "2.28.9", &examined);
  assert_says(&examined, "/opt/text.so is no tuner library");
  forget(&examined);
  examine("NCCL_TUNER_PLUGIN=/opt/libnew.so", "2.28.9", &examined);
  assert_codes(&examined, "609 0");
  assert_says(&examined, "It exports v7; this NCCL asks for v5 down to v2.");
  forget(&examined);
}

/* The environment first, then the user's file, then the machine's; NCCL_CONF_FILE takes the place of the user's. */
static void conf_files(void** state) {
  (void)state;
  struct examined examined;
  static const char machine[] = "# of the machine\nNCCL_TUNER_PLUGIN=mine\nNCCL_PROTO=LL\nNCCL_ALGO=ring\n";
  static const char user[] = "NCCL_PROTO=Simple\n";
  static const char special[] = "NCCL_PROTO=^LL\r\n";
  write_file("/etc/nccl.conf", machine, sizeof machine - 1);
  write_file("/home/me/.nccl.conf", user, sizeof user - 1);
  write_file("/opt/special.conf", special, sizeof special - 1);
  examine("NCCL_ALGO=tree", NULL, &examined);
  const struct env_set* set = &examined.diagnosis.set;
  assert_string_equal(env_set_value(set, "NCCL_ALGO"), "tree");
  assert_string_equal(env_set_value(set, "NCCL_PROTO"), "Simple");
  assert_string_equal(env_set_find(set, "NCCL_PROTO")->file, "/home/me/.nccl.conf");
  assert_string_equal(env_set_value(set, "NCCL_TUNER_PLUGIN"), "mine");
  assert_int_equal(env_set_find(set, "NCCL_TUNER_PLUGIN")->line, 2);
  assert_says(&examined, "every node needs the same line");
  forget(&examined);
  examine("NCCL_CONF_FILE=/opt/special.conf", NULL, &examined);
  assert_string_equal(env_set_value(&examined.diagnosis.set, "NCCL_PROTO"), "^LL");
  forget(&examined);
  /* what is set to "" is set: no file sets it then */
  examine("NCCL_PROTO=\nNCCL_ALGO=tree", NULL, &examined);
  assert_null(env_set_find(&examined.diagnosis.set, "NCCL_PROTO"));
  assert_silent(&examined, "NCCL_PROTO");
  forget(&examined);
}

static void unused_profile(void** state) {
  (void)state;
  struct examined examined;
  examine("NCCL_SIZEWISE_PROFILE=gb10-roce-8x1", NULL, &examined);
  assert_codes(&examined, "611 404 0 0");
  assert_says(&examined, "NCCL_SIZEWISE_PROFILE is set, but NCCL loads no tuner");
  forget(&examined);
  examine("NCCL_SIZEWISE_PROFILE=off", NULL, &examined);
  assert_codes(&examined, "0");
  forget(&examined);
}

/* --- the loader's cache ------------------------------------------------------------------------------------------- */

static void loader_cache(void** state) {
  (void)state;
  struct {
    char magic[20];
    uint32_t count, rest[6];
    int32_t flags;
    uint32_t name, path, os;
    uint64_t hwcap;
    char strings[64];
  } cache = {.magic = "glibc-ld.so.cache1.1", .count = 1};
  struct library_place place;
  static const char path[] = "/odd/place/libnccl-tuner.so";
  memcpy(cache.strings, "libnccl-tuner.so", 17);
  memcpy(cache.strings + 17, path, sizeof path);
  cache.name = offsetof(__typeof__(cache), strings);
  cache.path = cache.name + 17;
  install(path, "libfake-v4.so");
  write_file("/etc/ld.so.cache", &cache, sizeof cache);
  assert_true(library_search(root, NULL, "libnccl-tuner.so", &place));
  assert_string_equal(sw_text_string(&place.path), path);
  assert_string_equal(place.where, "the loader's cache");
  sw_text_free(&place.path);
  cache.path = UINT32_MAX; /* beyond the end */
  cache.count = UINT32_MAX;
  write_file("/etc/ld.so.cache", &cache, sizeof cache);
  assert_false(library_search(root, NULL, "libnccl-tuner.so", &place));
  sw_text_free(&place.path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_ROOT(nobody),          IN_ROOT(hijack),     IN_ROOT(inside_net_plugin), IN_ROOT(named),
      IN_ROOT(no_tuner_inside), IN_ROOT(conf_files), IN_ROOT(unused_profile),    IN_ROOT(loader_cache),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
