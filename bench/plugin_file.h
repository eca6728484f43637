/* Where the plugin is that belongs to this command line. */
#ifndef SW_PLUGIN_FILE_H
#define SW_PLUGIN_FILE_H

#include "ground/text.h"

/* The plugin beside the program, else the installed one; false, with the places looked at in `path`, without one. */
bool plugin_file_find(struct sw_text* path);

#endif
