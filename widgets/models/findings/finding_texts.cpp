// SPDX-License-Identifier: GPL-3.0-or-later
// What rules and their evidence are called, for people.
#include "core/analysis/findings/evidence_labels.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/findings/finding_model.h"

#include <QCoreApplication>
#include <QStringList>

namespace qs {

namespace {

QString evidencePart(const EvidenceItem& item)
{
    const auto known = evidenceLabel(item.key);
    const QString label
        = known ? QCoreApplication::translate("Evidence", known->label) : toQt(item.key).replace(u'_', u' ');
    if (!item.number)
        return label + u' ' + toQt(item.text);
    if (known && known->form == EvidenceForm::Share)
        return label + u' ' + percentText(item.number);
    if (known && known->form == EvidenceForm::Count)
        return label + u' ' + countText(quint64(*item.number));
    if (item.unit == "dB")
        return label + u' ' + decibelText(item.number);
    return label + u' ' + numberText(*item.number) + (item.unit.empty() ? QString() : u' ' + toQt(item.unit));
}

} // namespace

QString evidenceText(const Finding& finding)
{
    QStringList parts;
    for (const EvidenceItem& item : finding.evidence)
        parts << evidencePart(item);
    return parts.join(QStringLiteral(" · "));
}

QString ruleExplanation(Rule rule)
{
    return QCoreApplication::translate("Rules", std::string(ruleInfo(rule).explanation).c_str());
}

} // namespace qs
