/* What was gathered, as the text of a profile or of a workload. */
#ifndef SW_IMPORT_COMPOSE_H
#define SW_IMPORT_COMPOSE_H

#include "ground/text.h"
#include "import/gather.h"

/*
 * A profile from nccl-tests output or rules, in the canonical spelling. Several times of one setting at one size become
 * their median; `samples` counts them, and from six on the median's 95% interval gives `spread`. `diags` gets what
 * reading it again finds (started here). False when memory runs out or it does not read again.
 */
bool compose_profile(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_diags* diags,
                     struct sw_text* out);

/* A workload from TUNING lines; `diags` and the result as above. */
bool compose_workload(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_diags* diags,
                      struct sw_text* out);

/* The parts of a provenance that both have: in `out`, a file's name as a name of ours; and who says so. */
void compose_name(const struct gathered* gathered, const struct import_wanted* wanted, struct sw_text* out);
void compose_source(const struct gathered* gathered, const struct import_wanted* wanted, const char* what,
                    struct sw_text* out);

#endif
