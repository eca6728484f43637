/* Texts as JSON. */
#ifndef SW_JSON_TEXT_H
#define SW_JSON_TEXT_H

#include <jansson.h>

/* A text as a JSON string; NULL as null. Bytes that are no UTF-8 cannot stand in JSON: each becomes '?'. NULL when
 * memory runs out. */
json_t* json_text(const char* text);

#endif
