#include "doctor/elf_exports.h"

#include <elf.h>
#include <string.h>

#include "doctor/mapped.h"

static bool in_file(const struct mapped* file, uint64_t offset, uint64_t length) {
  return offset <= file->length && length <= file->length - offset;
}

/* Copies a struct out of the file, where it may lie unaligned; false beyond the end. */
static bool take(const struct mapped* file, uint64_t offset, void* out, size_t size) {
  if (!in_file(file, offset, size)) return false;
  memcpy(out, file->bytes + offset, size);
  return true;
}

/* The number behind `start`: 5 of "ncclTunerPlugin_v5"; -1 when the name is another one. */
static int version_of(const char* name, const char* start) {
  size_t length = strlen(start);
  if (strncmp(name, start, length) != 0) return -1;
  int version = 0;
  const char* digit = name + length;
  for (; *digit >= '0' && *digit <= '9' && version <= ELF_LARGEST_TUNER; digit++) version = version * 10 + *digit - '0';
  return *digit || digit == name + length || version > ELF_LARGEST_TUNER ? -1 : version;
}

static void take_name(const char* name, struct elf_exports* out) {
  int version = version_of(name, "ncclTunerPlugin_v");
  if (version >= 0) out->tuners |= 1U << version;
  out->net |= version_of(name, "ncclNetPlugin_v") >= 0;
  out->sizewise |= strcmp(name, "sizewise_control") == 0;
}

/* All symbols that a table of dynamic symbols defines. */
static void read_symbols(const struct mapped* file, const Elf64_Shdr* symbols, const Elf64_Shdr* names,
                         struct elf_exports* out) {
  if (!in_file(file, symbols->sh_offset, symbols->sh_size) || !in_file(file, names->sh_offset, names->sh_size)) return;
  const char* strings = file->bytes + names->sh_offset;
  if (!names->sh_size || strings[names->sh_size - 1] != '\0') return;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    if (!take(file, symbols->sh_offset + at, &symbol, sizeof symbol)) return;
    if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names->sh_size) take_name(strings + symbol.st_name, out);
  }
}

static bool is_elf(const Elf64_Ehdr* head) {
  return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
         head->e_ident[EI_DATA] == ELFDATA2LSB && head->e_shentsize == sizeof(Elf64_Shdr);
}

bool elf_exports_read(const char* path, struct elf_exports* out) {
  struct mapped file;
  Elf64_Ehdr head;
  *out = (struct elf_exports){0};
  if (!mapped_open(path, &file)) return false;
  bool good = take(&file, 0, &head, sizeof head) && is_elf(&head);
  for (unsigned i = 0; good && i < head.e_shnum; i++) {
    Elf64_Shdr symbols;
    Elf64_Shdr names;
    if (!take(&file, head.e_shoff + i * sizeof symbols, &symbols, sizeof symbols)) break;
    if (symbols.sh_type != SHT_DYNSYM || symbols.sh_link >= head.e_shnum) continue;
    if (take(&file, head.e_shoff + symbols.sh_link * sizeof names, &names, sizeof names))
      read_symbols(&file, &symbols, &names, out);
  }
  mapped_close(&file);
  return good;
}
