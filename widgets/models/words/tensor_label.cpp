// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/words/tensor_label.h"

#include "widgets/models/base/formatting.h"

#include <QRegularExpression>

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr std::array<std::string_view, 6> kPrefixes { "", "t", "val_", "value_", "tensor_", "input." };
constexpr std::string_view kNumerals = "0123456789";

} // namespace

bool isCountedName(std::string_view name)
{
    if (name.starts_with("onnx::")) // what it is used by, and a number
        return name.find('_') != std::string_view::npos;
    const size_t digits = name.find_first_of(kNumerals);
    if (digits == std::string_view::npos || name.find_first_not_of(kNumerals, digits) != std::string_view::npos)
        return false;
    return std::ranges::find(kPrefixes, name.substr(0, digits)) != kPrefixes.end();
}

QString tensorLabel(std::string_view tensor, std::string_view node)
{
    return node.empty() || node == tensor || !isCountedName(tensor) ? toQt(tensor)
                                                                    : toQt(tensor) + QStringLiteral(" · ") + toQt(node);
}

QString withoutCommonEnd(const QString& name)
{
    static const QRegularExpression kEnd(
        QStringLiteral("(?<=.)((/BiasAdd)?/ReadVariableOp(__\\d+)?(:0)?)?([_/]output_\\d+)?"
                       "(_(Deq|Q)uantizeLinear_Output(_\\d+)?|([._/]MatMul)?[._]weight(_quantized)?|_quantized)?$"));
    QString shorter = name;
    return shorter.remove(kEnd);
}

} // namespace qs
