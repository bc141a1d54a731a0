// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/targets/input_mutator.h"

#include "core/engine/registry/registry.h"
#include "tests/fuzz/byte_mutator.h"
#include "tests/fuzz/model_mutator.h"

namespace qs::test {

namespace {

std::string changedModel(const std::string& bytes, uint64_t seed)
{
    ModelMutator mutator(seed, operatorTypes());
    return mutator.changed(bytes);
}

} // namespace

const std::vector<std::string>& operatorTypes()
{
    static const std::vector<std::string> types = [] {
        std::vector<std::string> all;
        for (const auto& [key, lower] : loweringRegistry().all())
            all.push_back(key.second);
        return all;
    }();
    return types;
}

std::string changedInput(const FuzzTarget& target, const std::string& bytes, uint64_t seed)
{
    ByteMutator mutator(seed, wordsOf(target));
    const bool structured = target.form != FuzzForm::Bytes && mutator.below(4) != 0;
    if (!structured)
        return mutator.damaged(bytes);
    if (target.form == FuzzForm::Text)
        return mutator.rewritten(bytes);
    if (target.form == FuzzForm::Model)
        return changedModel(bytes, seed);
    ModelPair pair = pairOf(bytes);
    std::string& one = mutator.below(3) == 0 ? pair.floats : pair.quantized;
    one = changedModel(one, seed);
    return pairBytes(pair.floats, pair.quantized);
}

} // namespace qs::test
