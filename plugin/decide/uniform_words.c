#include "decide/uniform.h"
#include "nccl_tuner.h"

static void add_lack(struct sw_text* text, const struct sw_policy* policy, enum sw_uniform_look lack) {
  static const char* const words[] = {
      [SW_UNIFORM_TIMED] = "measured",
      [SW_UNIFORM_MISSING] = "not measured",
      [SW_UNIFORM_FOREIGN] = "measured only under other settings than auto",
      [SW_UNIFORM_OTHER_RAN] = "NCCL ran something else when it was asked for",
      [SW_UNIFORM_EXCLUDED] = "excluded",
  };
  if (lack != SW_UNIFORM_MEMORY) {
    sw_text_add(text, words[lack]);
    return;
  }
  sw_text_add(text, "over max_extra_memory ");
  sw_add_size_words(text, policy->max_extra_memory);
}

static void add_sizes(struct sw_text* text, const char* all, size_t sizes) {
  if (sizes == 1)
    sw_text_add(text, "the one measured size");
  else
    sw_text_printf(text, "%s%zu measured sizes", all, sizes);
}

static void add_measured(struct sw_text* text, const struct sw_uniform* uniform) {
  sw_text_add(text, "rests on ");
  add_sizes(text, "", uniform->sizes);
  sw_text_add(text, uniform->sizes == 1 ? ", " : "; at worst ");
  sw_add_fixed(text, (uint64_t)(uniform->worst * 100 + 0.5), 2);
  sw_text_add(text, " times auto's time, at ");
  sw_add_size_words(text, uniform->at->bytes);
}

static void add_none(struct sw_text* text, const struct sw_policy* policy, const struct sw_uniform* uniform) {
  if (!uniform->sizes) {
    sw_text_add(text, "auto was not measured");
    return;
  }
  if (sw_choice_is_auto(uniform->choice)) {
    sw_text_add(text, "no choice that names algorithm, protocol and channels was measured");
    return;
  }
  sw_text_add(text, "no choice qualifies at ");
  add_sizes(text, "all ", uniform->sizes);
  sw_text_add(text, "; nearest ");
  sw_add_choice(text, uniform->choice);
  sw_text_add(text, ": ");
  add_lack(text, policy, uniform->lacking);
  sw_text_add(text, " at ");
  sw_add_size_words(text, uniform->at->bytes);
}

void sw_add_uniform_reason(struct sw_text* text, const struct sw_policy* policy, const struct sw_uniform* uniform) {
  if (uniform->source == SW_UNIFORM_RULE)
    sw_text_printf(text, "rule on line %u, written by hand", uniform->rule->place.line);
  else if (uniform->source == SW_UNIFORM_MEASURED)
    add_measured(text, uniform);
  else if (uniform->source == SW_UNIFORM_NONE)
    add_none(text, policy, uniform);
  else
    sw_text_add(text, "no table for this collective and shape");
}

void sw_add_uniform_doubt(struct sw_text* text, const struct sw_uniform* uniform) {
  struct sw_choice choice = uniform->choice;
  bool found = sw_uniform_is_found(uniform);
  if (!found || uniform->firm) return;
  if (choice.algo != NCCL_ALGO_RING && choice.algo != NCCL_ALGO_TREE) {
    sw_text_add(text, "sums can still differ: ");
    sw_text_add(text, sw_value_word(&sw_algorithms, choice.algo));
    sw_text_add(text, " adds in an order that is not known to be the same at every size");
  } else if (choice.channels > 1) {
    sw_text_add(text,
                "sums can still depend on the size: NCCL runs small messages on fewer channels, and only one "
                "channel is the same at every size");
  } else {
    sw_text_add(text,
                "sums can still depend on the size: a ring adds in an order that depends on where an element "
                "lies in the buffer");
  }
}
