/* SPDX-License-Identifier: MIT */
/* One of two plug-ins that differ in nothing but their name. */
#define PLUGIN_MARK 'a'
#define PLUGIN_TAKE take_a
#include "plugin.h"
