/* The text of the profile that a study of simulated ranks comes to. */
#ifndef SW_TEST_STUDY_PROFILE_H
#define SW_TEST_STUDY_PROFILE_H

#include "calibrate/profile_out.h"
#include "unit/simulated_crew.h"

static inline struct sw_text study_profile(const struct study* study, const struct crew* crew) {
  static struct sw_diags diags;
  static const struct sw_facts facts = {.net = SW_NET_UNKNOWN};
  static const struct sw_settings none = {NULL, 0};
  struct profile_head head = {.name = "t",
                              .simulated = true,
                              .source = "a test",
                              .report = crew_report(crew, 0),
                              .facts = &facts,
                              .settings = &none};
  struct sw_text text = SW_TEXT_EMPTY;
  if (!profile_out(study, &head, &diags, &text)) fail_msg("%s", diags.items[0].text);
  return text;
}

#endif
