// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue.h"

#include <QString>

/// Issues for people: the command line prints one line, the window shows a headline, a remedy and details to copy.
namespace qs {

QString issueHeadline(const Issue& issue); ///< "qdq.onnx: the file is truncated."
QString issueRemedy(const Issue& issue); ///< "Give one array per input.", may be empty
QString issueDetails(const Issue& issue); ///< several lines, with full path, node and tensor

} // namespace qs
