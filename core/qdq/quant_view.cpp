// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/quant_view.h"
