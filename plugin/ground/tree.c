#include "ground/tree.h"

#include <string.h>
#include <yaml.h>

enum { DEEPEST = 16, MOST_NODES = 1000000, LONGEST_TEXT = 1 << 28 };

struct builder {
  yaml_parser_t parser;
  struct sw_arena* arena;
  struct sw_diags* diags;
  struct sw_node* open[DEEPEST]; /* the lists and maps around the next value, outermost first */
  struct sw_node* last[DEEPEST]; /* the last value of each */
  struct sw_node* key[DEEPEST];  /* the key that waits for its value, in maps */
  int depth;
  size_t nodes;
  struct sw_node* root;
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

/* Hangs a node below the innermost open list or map, or makes it the root. As a map's key it only waits. */
static void attach(struct builder* b, struct sw_node* node) {
  if (b->depth == 0) {
    b->root = node;
    return;
  }
  int top = b->depth - 1;
  struct sw_node* parent = b->open[top];
  if (parent->form == SW_NODE_MAP && !b->key[top]) {
    b->key[top] = node;
    return;
  }
  node->key = b->key[top];
  b->key[top] = NULL;
  if (b->last[top])
    b->last[top]->next = node;
  else
    parent->child = node;
  b->last[top] = node;
  parent->length++;
}

static struct sw_node* new_node(struct builder* b, enum sw_node_form form, struct sw_place place) {
  if (++b->nodes > MOST_NODES) {
    sw_report(b->diags, SW_TOO_DEEP, place, "more than %d values", MOST_NODES);
    return NULL;
  }
  struct sw_node* node = sw_arena_allocate(b->arena, 1, sizeof *node);
  if (!node) {
    sw_report(b->diags, SW_NO_MEMORY, place, "out of memory");
    return NULL;
  }
  node->form = form;
  node->place = place;
  return node;
}

static bool add_word(struct builder* b, const yaml_event_t* event, struct sw_place place) {
  struct sw_node* node = new_node(b, SW_NODE_WORD, place);
  if (!node) return false;
  size_t length = event->data.scalar.length;
  node->length = (unsigned)length;
  node->word = sw_arena_copy(b->arena, (const char*)event->data.scalar.value, length);
  if (!node->word) sw_report(b->diags, SW_NO_MEMORY, place, "out of memory");
  attach(b, node);
  return node->word != NULL;
}

static bool open_node(struct builder* b, enum sw_node_form form, struct sw_place place) {
  if (b->depth == DEEPEST) {
    sw_report(b->diags, SW_TOO_DEEP, place, "nested more than %d deep", DEEPEST);
    return false;
  }
  struct sw_node* node = new_node(b, form, place);
  if (!node) return false;
  attach(b, node);
  b->open[b->depth] = node;
  b->last[b->depth] = NULL;
  b->key[b->depth] = NULL;
  b->depth++;
  return true;
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
      b->depth--;
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

struct sw_node* sw_tree_read(struct sw_arena* arena, const char* text, size_t length, struct sw_diags* diags) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
    text += 3;
    length -= 3;
  }
  struct builder b = {.arena = arena, .diags = diags};
  diags->source = text;
  diags->source_length = length;
  if (length > LONGEST_TEXT) {
    sw_report(diags, SW_TOO_LARGE, (struct sw_place){0}, "larger than %d bytes", LONGEST_TEXT);
    return NULL;
  }
  if (!yaml_parser_initialize(&b.parser)) {
    sw_report(diags, SW_NO_MEMORY, (struct sw_place){0}, "out of memory");
    return NULL;
  }
  yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&b.parser, (const unsigned char*)text, length);
  bool good = build(&b);
  yaml_parser_delete(&b.parser);
  if (good && !b.root) sw_report(diags, SW_EMPTY, (struct sw_place){0}, "the file is empty");
  return good ? b.root : NULL;
}
