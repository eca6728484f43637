#include "ground/tree.h"

#include <string.h>
#include <yaml.h>

#include "ground/packed.h"

enum { DEEPEST = 16, MOST_NODES = 1000000 };

struct builder {
  yaml_parser_t parser;
  struct sw_packer packer;
  struct sw_diags* diags;
  struct open {
    unsigned char* head;
    enum sw_node_form form;
    uint32_t nodes;
  } open[DEEPEST]; /* the lists and maps around the next value, outermost first */
  int depth;
  size_t nodes;
  int documents;
};

static struct sw_place place_of(yaml_mark_t start, yaml_mark_t end) {
  size_t width = end.line == start.line && end.column > start.column ? end.column - start.column : 1;
  return (struct sw_place){(uint32_t)start.line + 1, (uint32_t)start.column + 1, (uint32_t)width};
}

/* libyaml tells a byte offset for text that it cannot decode. */
static struct sw_place place_of_offset(const struct sw_diags* diags, size_t offset) {
  struct sw_place place = {1, 1, 1};
  for (size_t i = 0; i < offset && i < diags->source_length; i++) {
    bool newline = diags->source[i] == '\n';
    bool continuation = ((unsigned char)diags->source[i] & 0xc0) == 0x80;
    place.line += newline;
    place.column = newline ? 1 : place.column + !continuation;
  }
  return place;
}

/* What stands at a place; NUL behind the text's end. */
static char byte_at(const struct sw_diags* diags, struct sw_place place) {
  size_t offset = 0;
  for (uint32_t line = 1; line < place.line && offset < diags->source_length; offset++)
    line += diags->source[offset] == '\n';
  offset += place.column - 1;
  return offset < diags->source_length ? diags->source[offset] : '\0';
}

/* The commonest mistakes are a tab in front of a key and a text such as *GB10* without quotes; libyaml's words for them
   do not say so. */
static void report_syntax_error(struct builder* b, const char* problem) {
  struct sw_place place = place_of(b->parser.problem_mark, b->parser.problem_mark);
  struct sw_place begin = b->parser.context ? place_of(b->parser.context_mark, b->parser.context_mark) : place;
  char first = byte_at(b->diags, begin);
  if (byte_at(b->diags, place) == '\t') {
    sw_report(b->diags, SW_SYNTAX, place, "not YAML: a tab stands here; indent with blanks");
    return;
  }
  if (first && begin.column > 1 && strchr("*&@`%", first)) {
    sw_report(b->diags, SW_SYNTAX, begin, "not YAML: a value that begins with %c has to be quoted", first);
    return;
  }
  const char* context = b->parser.context;
  if (!context) {
    sw_report(b->diags, SW_SYNTAX, place, "not YAML: %s", problem);
    return;
  }
  unsigned line = (unsigned)b->parser.context_mark.line + 1;
  sw_report(b->diags, SW_SYNTAX, place, "not YAML: %s %s that begins in line %u", problem, context, line);
}

static void report_parser_error(struct builder* b) {
  const yaml_parser_t* parser = &b->parser;
  const char* problem = parser->problem ? parser->problem : "unreadable";
  if (parser->error == YAML_MEMORY_ERROR) {
    sw_report(b->diags, SW_NO_MEMORY, (struct sw_place){0}, "out of memory");
  } else if (parser->error == YAML_READER_ERROR) {
    struct sw_place place = place_of_offset(b->diags, parser->problem_offset);
    sw_report(b->diags, SW_NOT_TEXT, place, "not a text file: %s", problem);
  } else {
    report_syntax_error(b, problem);
  }
}

/* Counts a node that comes next: a value, or in a map a key or a value. */
static bool count_node(struct builder* b, struct sw_place place) {
  if (b->depth) b->open[b->depth - 1].nodes++;
  if (++b->nodes <= MOST_NODES) return true;
  sw_report(b->diags, SW_TOO_DEEP, place, "more than %d values", MOST_NODES);
  return false;
}

static bool add_word(struct builder* b, const yaml_event_t* event, struct sw_place place) {
  if (!count_node(b, place)) return false;
  if (sw_pack_word(&b->packer, place, (const char*)event->data.scalar.value, event->data.scalar.length)) return true;
  sw_report(b->diags, SW_NO_MEMORY, place, "out of memory");
  return false;
}

static bool open_node(struct builder* b, enum sw_node_form form, struct sw_place place) {
  if (b->depth == DEEPEST) {
    sw_report(b->diags, SW_TOO_DEEP, place, "nested more than %d deep", DEEPEST);
    return false;
  }
  if (!count_node(b, place)) return false;
  unsigned char* head = sw_pack_open(&b->packer, form, place);
  if (!head) {
    sw_report(b->diags, SW_NO_MEMORY, place, "out of memory");
    return false;
  }
  b->open[b->depth++] = (struct open){head, form, 0};
  return true;
}

static void close_node(struct builder* b) {
  const struct open* open = &b->open[--b->depth];
  sw_pack_close(&b->packer, open->head, open->form == SW_NODE_MAP ? open->nodes / 2 : open->nodes);
}

static bool refuse(struct builder* b, struct sw_place place, const char* what) {
  sw_report(b->diags, SW_NOT_PLAIN, place, "%s are not part of the format: write the value out, or quote it", what);
  return false;
}

/* An anchor or a tag on a value. */
static bool is_plain(struct builder* b, struct sw_place place, const yaml_char_t* anchor, const yaml_char_t* tag) {
  if (anchor) return refuse(b, place, "anchors");
  if (tag) return refuse(b, place, "tags");
  return true;
}

static bool start_document(struct builder* b, struct sw_place place) {
  if (++b->documents == 1) return true;
  sw_report(b->diags, SW_SECOND_DOCUMENT, place, "a second document begins here; a file holds one");
  return false;
}

static bool take(struct builder* b, const yaml_event_t* event) {
  struct sw_place place = place_of(event->start_mark, event->end_mark);
  switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
      return start_document(b, place);
    case YAML_ALIAS_EVENT:
      return refuse(b, place, "aliases");
    case YAML_SCALAR_EVENT:
      return is_plain(b, place, event->data.scalar.anchor, event->data.scalar.tag) && add_word(b, event, place);
    case YAML_SEQUENCE_START_EVENT:
      return is_plain(b, place, event->data.sequence_start.anchor, event->data.sequence_start.tag) &&
             open_node(b, SW_NODE_LIST, place);
    case YAML_MAPPING_START_EVENT:
      return is_plain(b, place, event->data.mapping_start.anchor, event->data.mapping_start.tag) &&
             open_node(b, SW_NODE_MAP, place);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      close_node(b);
      return true;
    default:
      return true;
  }
}

static bool build(struct builder* b) {
  for (;;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&b->parser, &event)) {
      report_parser_error(b);
      return false;
    }
    bool more = event.type != YAML_STREAM_END_EVENT;
    bool good = take(b, &event);
    yaml_event_delete(&event);
    if (!good) return false;
    if (!more) return true;
  }
}

bool sw_tree_read(struct sw_arena* arena, const char* text, size_t length, struct sw_diags* diags,
                  struct sw_node* root) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
    text += 3;
    length -= 3;
  }
  struct builder b = {.packer.arena = arena, .diags = diags};
  diags->source = text;
  diags->source_length = length;
  if (!yaml_parser_initialize(&b.parser)) {
    sw_report(diags, SW_NO_MEMORY, (struct sw_place){0}, "out of memory");
    return false;
  }
  yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&b.parser, (const unsigned char*)text, length);
  bool good = build(&b);
  yaml_parser_delete(&b.parser);
  if (good && !b.nodes) sw_report(diags, SW_EMPTY, (struct sw_place){0}, "the file is empty");
  if (!good || !b.nodes) return false;
  sw_unpack(b.packer.first, root);
  return true;
}

struct sw_walk sw_walk_into(const struct sw_node* node) {
  return (struct sw_walk){.at = node->inside, .left = node->values, .in_map = node->form == SW_NODE_MAP};
}

bool sw_walk_next(struct sw_walk* walk) {
  if (!walk->left) return false;
  walk->left--;
  if (walk->in_map) walk->at = sw_unpack(walk->at, &walk->key);
  walk->at = sw_unpack(walk->at, &walk->value);
  if (walk->in_map) walk->value.key = &walk->key;
  return true;
}
