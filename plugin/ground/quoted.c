#include "ground/quoted.h"

/*
 * Where a character begins that a text can hold only as an escape: its code point, and its bytes; else 0. YAML refuses
 * most control characters, U+FEFF, U+FFFE and U+FFFF as such, and takes U+0085, U+2028 and U+2029 for ends of lines.
 */
static unsigned unprintable(const char* text, size_t* bytes) {
  const unsigned char* c = (const unsigned char*)text;
  *bytes = 1;
  if (c[0] < 0x20 || c[0] == 0x7f) return c[0];
  *bytes = 2;
  if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) return c[1];
  *bytes = 3;
  if ((c[0] & 0xf0) != 0xe0 || !c[1] || !c[2]) return 0;
  unsigned code = (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
  return code == 0x2028 || code == 0x2029 || code == 0xfeff || code >= 0xfffe ? code : 0;
}

void sw_add_quoted(struct sw_text* out, const char* text) {
  sw_text_add(out, "\"");
  while (*text) {
    size_t bytes;
    unsigned code = unprintable(text, &bytes);
    if (!code) bytes = 1;
    if (code == '\n')
      sw_text_add(out, "\\n");
    else if (code == '\t')
      sw_text_add(out, "\\t");
    else if (code)
      sw_text_printf(out, "\\u%04x", code);
    else if (*text == '"' || *text == '\\')
      sw_text_printf(out, "\\%c", *text);
    else
      sw_text_add_bytes(out, text, 1);
    text += bytes;
  }
  sw_text_add(out, "\"");
}
