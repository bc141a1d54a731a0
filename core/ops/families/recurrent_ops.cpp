// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"

#include <algorithm>

/// RNN, GRU, LSTM and the quantized LSTM of ONNX Runtime.
namespace qs {

namespace {

Result<std::vector<Fact>> inferRecurrent(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const Fact* x = c.input(0);
    for (size_t i = 0; i < 3; ++i)
        if (c.input(i)->dims && c.input(i)->dims->size() != 3)
            return inferIssue(
                c.node, "input " + std::to_string(i) + " must have rank 3, but has " + dimsText(*c.input(i)->dims));
    const Attributes& a = c.node.attributes;
    const bool batchFirst = a.integer("layout", 0) != 0;
    const Dim length = dimOf(x, batchFirst ? 1 : 0), batch = dimOf(x, batchFirst ? 0 : 1);
    const Dim dirs = knownDim(a.text("direction", "forward") == "bidirectional" ? 2 : 1);
    const int64_t stated = a.integer("hidden_size", 0);
    // R is directions x gates*hidden x hidden; quantized directions x hidden x gates*hidden.
    const Dim hidden = stated > 0 ? knownDim(stated) : dimOf(c.input(2), c.node.domain.empty() ? 2 : 1);
    const Dims y = batchFirst ? Dims { batch, length, dirs, hidden } : Dims { length, dirs, batch, hidden };
    const Dims last = batchFirst ? Dims { batch, dirs, hidden } : Dims { dirs, batch, hidden };
    std::vector<Fact> out { fact(x->dtype, y), fact(x->dtype, last), fact(x->dtype, last) };
    out.resize(std::min(out.size(), c.node.outputs.size()));
    return out;
}

/// Gates of all steps: input and state products.
std::optional<int64_t> recurrentMacs(const InferContext& c, std::span<const Fact>)
{
    const auto counted
        = [](const Fact* f) -> std::optional<int64_t> { return f && f->dims ? dimProduct(*f->dims) : std::nullopt; };
    const Dim length = dimOf(c.input(0), 0), batch = dimOf(c.input(0), 1);
    const auto w = counted(c.input(1)), r = counted(c.input(2));
    if (!w || !r || !length.known() || !batch.known())
        return std::nullopt;
    int64_t total = 0;
    if (__builtin_add_overflow(*w, *r, &total) || __builtin_mul_overflow(total, length.value, &total)
        || __builtin_mul_overflow(total, batch.value, &total))
        return std::nullopt;
    return total;
}

} // namespace

void registerRecurrentOps(OpRegistry& r)
{
    for (const char* type : { "RNN", "GRU", "LSTM" })
        r.add({ "", type, inferRecurrent, Tolerance::Accumulation, recurrentMacs });
    r.add({ kMicrosoftDomain, "DynamicQuantizeLSTM", inferRecurrent, Tolerance::Accumulation, recurrentMacs });
}

} // namespace qs
