// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/words/attribute_text.h"

#include "core/graph/graph.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/base/true_minus.h"

#include <QStringList>

namespace qs {

namespace {

constexpr size_t kShown = 16; ///< elements of a list before it is cut

QString element(int64_t value) { return withTrueMinus(QString::number(value)); }
QString element(float value) { return numberText(double(value), 6); }
QString element(const std::string& value) { return u'"' + toQt(value) + u'"'; }
QString element(const Tensor& value) { return toQt(dtypeName(value.dtype())) + u' ' + shapeLabel(value.shape()); }
QString element(const std::shared_ptr<const Graph>& value)
{
    return tr("subgraph, %1 nodes").arg(value ? countText(value->nodes().size()) : QStringLiteral("0"));
}
QString element(const OpaqueAttribute& value) { return toQt(value.kind); }

template <class T> QString element(const std::vector<T>& list)
{
    QStringList parts;
    for (size_t i = 0; i < std::min(list.size(), kShown); ++i)
        parts << element(list[i]);
    if (list.size() > kShown)
        parts << tr("… %1 in all").arg(countText(list.size()));
    return u'[' + parts.join(QStringLiteral(", ")) + u']';
}

} // namespace

QString attributeText(const AttributeValue& value)
{
    return std::visit([](const auto& v) { return element(v); }, value);
}

} // namespace qs
