// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/arithmetic/element_path.h"

#include "widgets/models/base/formatting.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

struct PathWords {
    Q_DECLARE_TR_FUNCTIONS(ElementPath)
};

constexpr int kHeadlineDigits = 5;
constexpr int kNameBegin = 20,
              kNameEnd = 44; ///< letters that stay of a long name; tool tips and the Inspector have all

QString shortName(const std::string& name)
{
    const QString text = toQt(name);
    return text.size() <= kNameBegin + kNameEnd ? text.toHtmlEscaped()
                                                : (text.left(kNameBegin) + u'…' + text.right(kNameEnd)).toHtmlEscaped();
}

QString nodeText(const ElementExplanation& e)
{
    if (e.opType.empty())
        return PathWords::tr("not computed: a graph input or a constant of the file");
    const QString node = shortName(e.node);
    if (e.unitOperator.empty())
        return PathWords::tr("by %1 <b>%2</b>").arg(toQt(e.opType), node);
    return PathWords::tr("by %1 <b>%2</b>, with %3 fused to %4 on codes")
        .arg(toQt(e.opType), node,
            PathWords::tr("%1 other node(s)", nullptr, int(e.unitNodes.size()) - 1).arg(e.unitNodes.size() - 1),
            toQt(e.unitOperator));
}

QString valueText(const ElementExplanation& e)
{
    if (!e.code)
        return QStringLiteral("<b>%1</b>").arg(numberText(e.stored, kHeadlineDigits));
    const QString code = PathWords::tr("code <b>%1</b>").arg(signedCount(*e.code));
    if (!e.scale)
        return code;
    const QString zero = e.zeroPoint.value_or(0) < 0 ? QStringLiteral("(%1)").arg(signedCount(*e.zeroPoint))
                                                     : signedCount(e.zeroPoint.value_or(0));
    return QStringLiteral("%1: %2 × (%3 − %4) = <b>%5</b>")
        .arg(code, numberText(*e.scale, kHeadlineDigits), signedCount(*e.code), zero,
            numberText(e.real, kHeadlineDigits));
}

QString differenceText(const ElementExplanation& e)
{
    if (!e.difference)
        return {};
    return PathWords::tr("float %1, difference <b>%2</b>")
        .arg(numberText(e.difference->reference, kHeadlineDigits), signedText(e.difference->total));
}

/// A range that begins at zero does what a Relu does: the zeros that it makes are no loss, as far as is known.
bool losesByClipping(const ElementExplanation& last, const ElementExplanation& e)
{
    return e.clipped && (last.difference ? last.difference->clipping != 0 : e.code != e.zeroPoint);
}

/// Of all operators on the way.
QStringList warningsOf(const ElementExplanation& last)
{
    bool clipped = false, otherwise = false;
    for (const ElementExplanation* e = &last; e; e = e->behind.get()) {
        clipped = clipped || losesByClipping(last, *e);
        otherwise = otherwise || e->confirmed == false;
    }
    QStringList warnings;
    if (clipped)
        warnings << PathWords::tr("clipped: the code is the end of its range");
    if (otherwise)
        warnings << PathWords::tr("these steps do not give the engine's number: please report this");
    return warnings;
}

} // namespace

std::vector<ExplanationPtr> pathOf(const ExplanationPtr& explanation)
{
    std::vector<ExplanationPtr> path;
    for (ExplanationPtr e = explanation; e; e = e->behind)
        path.push_back(e);
    std::ranges::reverse(path);
    return path;
}

QString elementPlaceText(const Shape& at)
{
    QStringList indices;
    for (const int64_t i : at)
        indices << QString::number(i);
    return QStringLiteral("[%1]").arg(indices.join(QStringLiteral(", ")));
}

QString codeLessZeroPoint(const Operand& operand)
{
    if (!operand.code)
        return {};
    const QString code = signedCount(*operand.code);
    if (operand.zeroPoint == 0)
        return code;
    return operand.zeroPoint < 0 ? QStringLiteral("%1 + %2").arg(code, signedCount(-operand.zeroPoint))
                                 : QStringLiteral("%1 − %2").arg(code, signedCount(operand.zeroPoint));
}

QString signedText(double value, int digits)
{
    return value > 0 ? u'+' + numberText(value, digits) : numberText(value, digits);
}

QString headlineHtml(const ElementExplanation& e)
{
    QStringList second { valueText(e) };
    if (const QString difference = differenceText(e); !difference.isEmpty())
        second << difference;
    second << warningsOf(e);
    return QStringLiteral("<b>%1</b> %2 · %3 · %4<br>%5")
        .arg(shortName(e.tensor), elementPlaceText(e.at), nodeText(e), toQt(profileName(e.profile)),
            second.join(QStringLiteral(" · ")));
}

} // namespace qs
