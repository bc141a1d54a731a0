// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/recipe/recipe_edits.h"

#include "moc_recipe_edits.cpp"
