// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/same_inputs.h"

#include <tuple>

namespace qs {

bool sameData(const DataRequest& a, const DataRequest& b)
{
    return a.spec == b.spec && a.preprocess == b.preprocess && a.shapes == b.shapes && a.limit == b.limit
        && a.seed == b.seed;
}

bool sameInputs(const Inputs& a, const Inputs& b)
{
    const auto rest = [](const Inputs& i) {
        return std::tie(i.floatPath, i.quantPath, i.recipe, i.rangesPath, i.classNamesPath, i.mapPath, i.links, i.other,
            i.carry, i.compare, i.run, i.shard, i.nodeAlone, i.histograms, i.profile);
    };
    return sameData(a.data, b.data) && sameData(a.calibration, b.calibration) && rest(a) == rest(b);
}

Inputs withoutPairsAndOther(Inputs inputs)
{
    inputs.mapPath.clear();
    inputs.links = {};
    inputs.other = {};
    return inputs;
}

} // namespace qs
