/* SPDX-License-Identifier: MIT */
/* One of two plug-ins that differ in nothing but their name. */
#define PLUGIN_MARK 'b'
#define PLUGIN_TAKE take_b
#include "plugin.h"
