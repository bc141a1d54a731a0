// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/explain/explanation/explanation.h"

#include <QString>

#include <memory>
#include <vector>

/// An explained number in the window's words.
namespace qs {

using ExplanationPtr = std::shared_ptr<const ElementExplanation>;

/// From the operator that has the terms to the number that was asked for; a single one where nothing lies behind it.
std::vector<ExplanationPtr> pathOf(const ExplanationPtr& explanation);

/// "[0, 3, 1, 2]"
QString elementPlaceText(const Shape& at);
/// "−110 + 128": a code less its zero point; empty without a code.
QString codeLessZeroPoint(const Operand& operand);
/// What is made by whom, and the number with its formula filled in; rich text of two lines.
QString headlineHtml(const ElementExplanation& explanation);
/// "+0.0239", "−0.0239"
QString signedText(double value, int digits = 4);

} // namespace qs
