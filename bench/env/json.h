/* The deployment as JSON; the layout is in the help of `sizewise env`. */
#ifndef SW_ENV_JSON_H
#define SW_ENV_JSON_H

#include "env/helps.h"
#include "env/lines.h"

/* `remarks`: lines, each ended by a newline. False when memory runs out. */
bool env_as_json(const struct env_line* lines, size_t count, const char* remarks, const struct env_helps* helps,
                 struct sw_text* out);

#endif
