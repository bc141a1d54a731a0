// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/words/error_text.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/words/window_words.h"

#include <QStringList>

namespace qs {

namespace {

constexpr std::string_view kCheckPath = "check the path"; ///< remedy where a file is not there

QString sentence(QString text)
{
    text = text.trimmed();
    if (text.isEmpty())
        return text;
    text[0] = text[0].toUpper();
    return text.endsWith(u'.') || text.endsWith(u'?') ? text : text + u'.';
}

QString kindName(IssueKind kind)
{
    switch (kind) {
    case IssueKind::BadUse:
        return tr("wrong use");
    case IssueKind::BadInput:
        return tr("bad input");
    case IssueKind::NoMemory:
        return tr("not enough memory");
    case IssueKind::Cancelled:
        return tr("cancelled");
    case IssueKind::Internal:
        return tr("internal error");
    }
    return {};
}

} // namespace

QString issueHeadline(const Issue& issue)
{
    QStringList places;
    if (!issue.file.empty())
        places << fileName(issue.file);
    if (!issue.node.empty())
        places << tr("node “%1”").arg(toQt(issue.node));
    if (!issue.tensor.empty())
        places << tr("tensor “%1”").arg(toQt(issue.tensor));
    if (places.isEmpty())
        return sentence(inWindowWords(toQt(issue.what)));
    const QString what = inWindowWords(toQt(issue.what)).trimmed();
    return places.join(QStringLiteral(", ")) + QStringLiteral(": ") + (what.endsWith(u'.') ? what : what + u'.');
}

QString issueRemedy(const Issue& issue)
{
    const QString remedy = inWindowWords(toQt(issue.remedy));
    const bool whole = issue.remedy == kCheckPath && !issue.file.empty(); // the headline has the name alone
    return sentence(whole ? remedy + QStringLiteral(": ") + toQt(issue.file) : remedy);
}

QString issueDetails(const Issue& issue)
{
    QStringList lines { tr("Problem: %1").arg(inWindowWords(toQt(issue.what))),
        tr("Kind: %1").arg(kindName(issue.kind)) };
    if (!issue.file.empty())
        lines << tr("File: %1").arg(toQt(issue.file));
    if (!issue.node.empty())
        lines << tr("Node: %1").arg(toQt(issue.node));
    if (!issue.tensor.empty())
        lines << tr("Tensor: %1").arg(toQt(issue.tensor));
    if (!issue.remedy.empty())
        lines << tr("Remedy: %1").arg(inWindowWords(toQt(issue.remedy)));
    return lines.join(u'\n');
}

} // namespace qs
