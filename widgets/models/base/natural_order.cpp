// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/natural_order.h"

namespace qs {

namespace {

bool isDigit(QChar c) { return c >= u'0' && c <= u'9'; }

/// The digits at the front, without zeros before them; they are taken from `text`.
QStringView takeNumber(QStringView& text)
{
    qsizetype end = 0;
    while (end < text.size() && isDigit(text[end]))
        ++end;
    QStringView digits = text.first(end);
    text = text.sliced(end);
    while (digits.size() > 1 && digits.front() == u'0')
        digits = digits.sliced(1);
    return digits;
}

int signOf(qsizetype difference) { return difference < 0 ? -1 : difference > 0; }

} // namespace

int naturalCompare(QStringView a, QStringView b)
{
    QStringView x = a, y = b;
    while (!x.isEmpty() && !y.isEmpty()) {
        if (isDigit(x.front()) && isDigit(y.front())) {
            const QStringView left = takeNumber(x), right = takeNumber(y);
            if (left.size() != right.size())
                return signOf(left.size() - right.size());
            if (const int order = left.compare(right); order != 0)
                return signOf(order);
            continue;
        }
        if (const int order = x.first(1).compare(y.first(1), Qt::CaseInsensitive); order != 0)
            return signOf(order);
        x = x.sliced(1);
        y = y.sliced(1);
    }
    if (const int order = signOf(x.size() - y.size()); order != 0)
        return order;
    return signOf(a.compare(b)); // only zeros or cases differ
}

} // namespace qs
