#include "calibrate/keep.h"

#include <stdio.h>
#include <unistd.h>

#include "calibrate/in_force.h"
#include "output/replace.h"

void keeper_keep(void* context, const struct study* study) {
  struct keeper* keeper = context;
  static struct sw_diags diags;
  sw_text_free(&keeper->text);
  if (profile_out(study, &keeper->head, &diags, &keeper->text)) {
    const char* output = keeper->arguments->output;
    keeper->failed = output && !file_replace(output, keeper->text.data);
    return;
  }
  struct sw_text fault = SW_TEXT_EMPTY;
  sw_add_diags(&fault, &diags);
  fputs(sw_text_string(&fault), stderr);
  sw_text_free(&fault);
}

void keeper_start(struct keeper* keeper, const struct calibrate_arguments* arguments, const struct crew* crew) {
  struct sw_facts_source machine = sw_facts_this_machine(false);
  const struct fabric_report* report = crew_report(crew, 0);
  *keeper = (struct keeper){.arguments = arguments};
  sw_facts_gather(&machine, &keeper->facts);
  keeper->settings = in_force_read(environ, &keeper->arena);
  sw_text_printf(&keeper->source, "sizewise calibrate on %s, %u ranks", report->host, crew_ranks(crew));
  if (arguments->simulate)
    sw_text_printf(&keeper->source, ", simulated from %s with seed %llu: no machine was measured", arguments->simulate,
                   (unsigned long long)arguments->seed);
  keeper->head = (struct profile_head){.name = arguments->name ? arguments->name : "calibrated",
                                       .simulated = arguments->simulate != NULL,
                                       .source = sw_text_string(&keeper->source),
                                       .report = report,
                                       .facts = &keeper->facts,
                                       .settings = &keeper->settings};
}

void keeper_free(struct keeper* keeper) {
  sw_text_free(&keeper->source);
  sw_text_free(&keeper->text);
  sw_arena_free(&keeper->arena);
}
