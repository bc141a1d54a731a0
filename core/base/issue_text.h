// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue.h"

namespace qs {

/// One clear sentence on one line: "FILE: node 'N' (tensor 'T'): what; remedy".
std::string issueText(const Issue& issue);

} // namespace qs
