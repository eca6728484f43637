#include "promise.h"

#include "decide/uniform.h"
#include "ground/names.h"

static void begin(struct sw_text* text, int collective) {
  sw_text_printf(text, "%s%s: ", text->length ? "; " : "", sw_value_word(&sw_collectives, collective));
}

/* What was found, but does not hold at every size. */
static void add_weakness(struct sw_text* warning, int collective, const struct sw_uniform* uniform, bool allowed) {
  if (allowed && uniform->firm) return;
  begin(warning, collective);
  sw_add_choice(warning, uniform->choice);
  sw_text_add(warning, allowed ? ": " : " is excluded by NCCL_ALGO or NCCL_PROTO, so NCCL decides");
  if (allowed) sw_add_uniform_doubt(warning, uniform);
}

static void add_collective(const struct sw_profile* profile, const struct sw_forced* forced, int collective,
                           const struct sw_uniform* uniform, struct sw_text* warning, struct sw_text* others) {
  bool sums = sw_uniform_sums(collective);
  bool allowed = sw_forced_allows(forced, collective, uniform->choice.algo, uniform->choice.proto);
  if (sw_uniform_is_found(uniform) && (allowed || sums)) {
    add_weakness(warning, collective, uniform, allowed);
  } else if (uniform->source == SW_UNIFORM_NONE && sums) {
    begin(warning, collective);
    sw_add_uniform_reason(warning, &profile->policy, uniform);
    sw_text_add(warning, "; NCCL decides");
  } else {
    sw_text_printf(others, "%s%s", others->length ? ", " : "", sw_value_word(&sw_collectives, collective));
  }
  if (!uniform->ignored_rules) return;
  begin(warning, collective);
  sw_text_printf(warning,
                 "%zu rule%s ignored: only the first for every size that names algo, proto and channels counts",
                 uniform->ignored_rules, uniform->ignored_rules == 1 ? " is" : "s are");
}

void sw_add_promise(const struct sw_profile* profile, const struct sw_forced* forced, uint32_t nodes, uint32_t ranks,
                    struct sw_text* warning, struct sw_text* others) {
  for (int c = NCCL_NUM_COLLECTIVES - 1; c >= 0; c--) {
    struct sw_uniform uniform = sw_uniform_find(profile, c, nodes, ranks);
    add_collective(profile, forced, c, &uniform, warning, others);
  }
}

void sw_add_broken_promise(struct sw_text* text, int collective, uint64_t bytes, struct sw_choice choice) {
  sw_text_add(text, "deterministic mode: NCCL does not offer ");
  sw_add_choice(text, choice);
  sw_text_printf(text, " for %s at ", sw_value_word(&sw_collectives, collective));
  sw_add_size_words(text, bytes);
  sw_text_printf(text, ", so NCCL decides there, and sums can differ from those at other sizes [SW-%d]",
                 (int)SW_NOT_DETERMINISTIC);
}
