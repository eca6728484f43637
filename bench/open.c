#include "open.h"

#include <stdlib.h>
#include <string.h>

#include "select/library.h"
#include "select/settings.h"
#include "select/shipped.h"

static const char* search_path(void) {
  const char* path = getenv("NCCL_SIZEWISE_PATH");
  return path && path[0] ? path : SW_DEFAULT_PATH;
}

bool opened_open(const char* name, struct opened* out, struct sw_text* fault) {
  struct sw_location location;
  memset(out, 0, sizeof *out);
  if (!sw_locate(search_path(), name, &location, fault)) return false;
  if (location.shipped) {
    sw_text_add(&out->origin, "shipped");
    sw_diags_start(&out->diags, location.shipped->name);
    out->profile = sw_profile_read(location.shipped->text, location.shipped->length, &out->diags);
  } else {
    out->origin = location.file;
    sw_diags_start(&out->diags, sw_text_string(&out->origin));
    out->profile = sw_profile_read_file(sw_text_string(&out->origin), &out->source, &out->diags);
  }
  if (!out->profile || sw_digest_compute(out->profile, &out->digest)) return true;
  sw_text_add(fault, "out of memory");
  opened_close(out);
  return false;
}

void opened_close(struct opened* opened) {
  sw_profile_free(opened->profile);
  sw_text_free(&opened->origin);
  free(opened->source);
  memset(opened, 0, sizeof *opened);
}
