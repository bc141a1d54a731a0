// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/step/lower_context.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace qs {

class LoweringRegistry {
public:
    void add(std::string_view domain, std::string_view type, LowerFn fn)
    {
        m_entries[{ std::string(domain), std::string(type) }] = fn;
    }
    LowerFn find(const Node& node) const
    {
        const auto it = m_entries.find({ node.domain, node.opType });
        return it == m_entries.end() ? nullptr : it->second;
    }
    const auto& all() const { return m_entries; }

private:
    std::map<std::pair<std::string, std::string>, LowerFn> m_entries;
};

/// The registry of this build.
const LoweringRegistry& loweringRegistry();

// One a family, in core/engine/lower/<room>/<family>.cpp, called by loweringRegistry().
void lowerElementwise(LoweringRegistry&);
void lowerQuant(LoweringRegistry&);
void lowerConv(LoweringRegistry&);
void lowerIntegerConv(LoweringRegistry&);
void lowerPools(LoweringRegistry&);
void lowerMatmul(LoweringRegistry&);
void lowerNorm(LoweringRegistry&);
void lowerReduce(LoweringRegistry&);
void lowerShape(LoweringRegistry&);
void lowerIndex(LoweringRegistry&);
void lowerIntegerProduct(LoweringRegistry&);
void lowerMicrosoft(LoweringRegistry&);
void lowerAttentions(LoweringRegistry&);
void lowerLosses(LoweringRegistry&);
void lowerVision(LoweringRegistry&);
void lowerAlgebra(LoweringRegistry&);
void lowerText(LoweringRegistry&);
void lowerRandom(LoweringRegistry&);
void lowerMl(LoweringRegistry&);
void lowerControl(LoweringRegistry&);
void lowerSequences(LoweringRegistry&);
void lowerRecurrent(LoweringRegistry&);
void lowerAudio(LoweringRegistry&);

} // namespace qs
