#include "doctor/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files of /proc have no size: they are read to their end. Returns 0 or an errno value. */
static int read_all(const char* path, struct sw_text* out) {
  enum { MOST = 64 * 1024 * 1024 };
  char block[65536];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return errno;
  ssize_t more = 1;
  while (more > 0 && out->length < MOST) {
    more = read(file, block, sizeof block);
    if (more > 0) sw_text_add_bytes(out, block, (size_t)more);
  }
  int fault = more < 0 ? errno : out->failed ? ENOMEM : 0;
  close(file);
  return fault;
}

static int read_proc(const char* root, uint32_t pid, const char* name, struct sw_text* out) {
  struct sw_text path = SW_TEXT_EMPTY;
  sw_text_printf(&path, "%s/proc/%u/%s", root, pid, name);
  int fault = path.failed ? ENOMEM : read_all(sw_text_string(&path), out);
  sw_text_free(&path);
  return fault;
}

static void explain(uint32_t pid, int fault, struct sw_text* out) {
  switch (fault) {
    case ENOENT:
    case ESRCH:
      sw_text_printf(out, "there is no process %u; it may have ended", pid);
      break;
    case EACCES:
    case EPERM:
      sw_text_printf(out, "process %u belongs to another user: run this as that user, or as root", pid);
      break;
    default:
      sw_text_printf(out, "process %u cannot be looked at: %s", pid, strerror(fault));
  }
}

/* A process can name itself as it likes, and a terminal would obey control characters. The last one ends the file. */
static void make_printable(struct sw_text* name) {
  if (name->length && name->data[name->length - 1] == '\n') name->data[--name->length] = '\0';
  for (size_t i = 0; i < name->length; i++)
    if ((unsigned char)name->data[i] < ' ' || name->data[i] == 0x7f) name->data[i] = '?';
}

static void take_environment(const struct sw_text* environ, struct env_set* set) {
  for (size_t at = 0; at < environ->length; at += strlen(environ->data + at) + 1)
    env_set_put_pair(set, environ->data + at, "environment", 0);
}

static bool has_library(const struct process* process, const char* path) {
  for (size_t i = 0; i < process->library_count; i++)
    if (strcmp(process->libraries[i], path) == 0) return true;
  return false;
}

static bool add_library(struct process* process, const char* path) {
  char** libraries = realloc(process->libraries, (process->library_count + 1) * sizeof *libraries);
  if (!libraries) return false;
  process->libraries = libraries;
  libraries[process->library_count] = strdup(path);
  return libraries[process->library_count] && ++process->library_count;
}

/* "address perms offset device inode   /path"; only what has code in it. */
static bool take_mapping(struct process* process, const char* line) {
  const char* path = strchr(line, '/');
  const char* rights = strchr(line, ' ');
  if (!path || !rights || strnlen(rights, 5) < 5 || rights[3] != 'x') return true;
  return has_library(process, path) || add_library(process, path);
}

static bool take_maps(struct process* process, char* text) {
  bool good = true;
  for (char* line = text; line && good;) {
    char* end = strchr(line, '\n');
    if (end) *end = '\0';
    good = take_mapping(process, line);
    line = end ? end + 1 : NULL;
  }
  return good;
}

bool process_read(const char* root, uint32_t pid, struct process* out, struct sw_text* fault) {
  struct sw_text environ = SW_TEXT_EMPTY;
  struct sw_text maps = SW_TEXT_EMPTY;
  *out = (struct process){.pid = pid};
  int error = read_proc(root, pid, "environ", &environ);
  if (!error) error = read_proc(root, pid, "maps", &maps);
  if (!error) {
    read_proc(root, pid, "comm", &out->name);
    make_printable(&out->name);
    take_environment(&environ, &out->set);
    sw_text_printf(&out->root, "%s/proc/%u/root", root, pid);
    sw_text_printf(&out->folder, "%s/proc/%u/cwd/", root, pid);
    if (out->set.failed || out->root.failed || out->folder.failed || (maps.data && !take_maps(out, maps.data)))
      error = ENOMEM;
  }
  if (error) explain(pid, error, fault);
  sw_text_free(&environ);
  sw_text_free(&maps);
  return !error;
}

void process_free(struct process* process) {
  env_set_free(&process->set);
  for (size_t i = 0; i < process->library_count; i++) free(process->libraries[i]);
  free(process->libraries);
  sw_text_free(&process->root);
  sw_text_free(&process->folder);
  sw_text_free(&process->name);
  *process = (struct process){0};
}
