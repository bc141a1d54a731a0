// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/element_check.h"

#include "core/project/snapshot/comparing.h"

namespace qs {

Result<ElementDifferences> elementDifferences(
    const Snapshot* a, const Snapshot& b, const ElementTolerance& tolerance, const WorkContext& work)
{
    const ComparePair second = comparePairOf(b);
    ElementRequest request;
    request.b = { second.quantPlan, second.quantView };
    if (a) {
        const ComparePair first = comparePairOf(*a);
        request.a = { first.quantPlan, first.quantView };
        request.pairs = elementPairs(first, second);
    } else {
        request.a = { second.floatPlan, b.floatModel->quant };
        request.pairs = elementPairs(second, *b.floatModel->quant);
    }
    request.fed = second.floatPlan;
    request.data = b.data.get();
    request.tolerance = tolerance;
    return compareElements(request, work);
}

} // namespace qs
