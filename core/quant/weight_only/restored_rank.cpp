// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/restored_rank.h"

namespace qs {

bool needsRank(const GraphDraft& draft, const std::string& input, const Shape& weight)
{
    if (weight.size() <= 2)
        return false;
    const auto declared = draft.types.find(input);
    const Graph& graph = draft.source().graph;
    const ValueId id = graph.findValue(input);
    const std::optional<Dims> dims = declared != draft.types.end() ? declared->second.dims
        : id.valid()                                               ? graph.value(id).type.dims
                                                                   : std::nullopt;
    return !dims || dims->size() < weight.size();
}

void restoreRank(GraphDraft& draft, const LostRank& lost, std::vector<DraftNode>& out)
{
    const std::string p = lost.prefix + "_" + lost.output;
    const auto constant = [&](const char* name, Shape shape, int64_t value) {
        draft.setConstant(p + name, Tensor::of<int64_t>(std::move(shape), { value }));
        return p + name;
    };
    const std::string zero = constant("_zero", {}, 0), one = constant("_one", {}, 1), two = constant("_two", {}, 2);
    const std::string oneVec = constant("_one_vec", { 1 }, 1);
    const std::string rankB = constant("_rank_b", {}, static_cast<int64_t>(lost.weight.size()));
    const std::string columns = constant("_n_vec", { 1 }, lost.weight.back());
    const std::string zeroVec = constant("_zero_vec", { 1 }, 0);
    const auto node
        = [&](const char* type, std::vector<std::string> inputs, const char* output, const char* name) -> DraftNode& {
        out.push_back({ NodeId(), p + name, type, "", std::move(inputs), { p + output }, {}, false, NodeId() });
        return out.back();
    };
    node("Shape", { lost.input }, "_a_shape", "_shape_a");
    node("Shape", { p + "_a_shape" }, "_a_shape_of_shape", "_shape_of_a_shape");
    node("Gather", { p + "_a_shape_of_shape", zero }, "_a_rank", "_gather_rank");
    node("Max", { p + "_a_rank", two }, "_a_rank_eff", "_max_rank_eff"); // a vector counts as a matrix
    node("Sub", { rankB, p + "_a_rank_eff" }, "_extra_raw", "_sub");
    node("Max", { p + "_extra_raw", zero }, "_extra_count", "_max");
    node("Reshape", { p + "_extra_count", oneVec }, "_extra_count_vec", "_reshape_extra");
    node("ConstantOfShape", { p + "_extra_count_vec" }, "_extra_ones", "_const_ones")
        .attributes.set("value", Tensor::of<int64_t>({ 1 }, { 1 }));
    node("Sub", { p + "_a_rank", one }, "_a_rank_m1", "_sub_one");
    node("Reshape", { p + "_a_rank_m1", oneVec }, "_a_rank_m1_vec", "_reshape_rank_m1");
    node("Slice", { p + "_a_shape", zeroVec, p + "_a_rank_m1_vec", zeroVec }, "_a_prefix_shape", "_slice_a_prefix");
    node("Concat", { p + "_extra_ones", p + "_a_prefix_shape", columns }, "_target_shape", "_concat_target")
        .attributes.set("axis", int64_t(0));
    out.push_back({ NodeId(), p + "_reshape_out", "Reshape", "", { lost.product, p + "_target_shape" }, { lost.output },
        {}, false, NodeId() });
}

} // namespace qs
