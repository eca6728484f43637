#include "launch/words.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The rank behind the run of marked ranks that starts at `first`. */
static uint32_t run_end(const bool* marked, uint32_t first, uint32_t ranks) {
  uint32_t end = first;
  while (end < ranks && marked[end]) end++;
  return end;
}

void words_ranks(char* out, size_t size, const bool* marked, uint32_t ranks) {
  size_t used = 0;
  *out = '\0';
  for (uint32_t first = 0, end; first < ranks; first = end) {
    end = run_end(marked, first, ranks);
    if (end == first) {
      end++;
      continue;
    }
    char piece[40];
    if (end - first == 2) end = first + 1; /* "2, 3" reads better than "2-3" */
    if (end - first == 1)
      snprintf(piece, sizeof piece, "%s%u", used ? ", " : "", first);
    else
      snprintf(piece, sizeof piece, "%s%u-%u", used ? ", " : "", first, end - 1);
    if (used + strlen(piece) + sizeof ", ..." > size) {
      snprintf(out + used, size - used, "%s...", used ? ", " : "");
      return;
    }
    used += (size_t)snprintf(out + used, size - used, "%s", piece);
  }
}

const char* words_rank(uint32_t count) {
  return count == 1 ? "rank" : "ranks";
}

void words_end(char* out, size_t size, int status) {
  if (WIFSIGNALED(status)) {
    int number = WTERMSIG(status);
    snprintf(out, size, "was killed by signal %d (%s%s)", number, strsignal(number),
             number == SIGKILL ? ", as the kernel does when memory runs out" : "");
  } else {
    snprintf(out, size, "ended with status %d", WEXITSTATUS(status));
  }
}

void words_clean(char* text) {
  for (char* c = text; *c; c++)
    if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f) *c = *c == '\t' ? ' ' : '?';
}

void words_last_line(char* out, size_t size, const char* text) {
  size_t end = strlen(text);
  while (end > 0 && strchr(" \n", text[end - 1])) end--;
  size_t start = end;
  while (start > 0 && text[start - 1] != '\n') start--;
  snprintf(out, size, "%.*s", (int)(end - start), text + start);
}
