// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/control/parts.h"
#include "core/engine/lower/control/stacked_values.h"
#include "core/engine/run/subgraph.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// The same elements with axis `from` moved to place `to`.
Tensor moveAxis(const StepContext& c, const Tensor& t, size_t from, size_t to)
{
    if (from == to)
        return t;
    const Movable movable({ &t });
    std::vector<size_t> order = allAxes(t.rank());
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), from);
    const auto strides = rowMajorStrides(t.shape());
    StridedCopy copy;
    for (size_t axis : order) {
        copy.shape.push_back(t.dim(axis));
        copy.from.push_back(strides[axis]);
    }
    copy.to = rowMajorStrides(copy.shape);
    Tensor out = c.allocate(movable.dtype(), copy.shape);
    copyStrided(KernelMode::Fast, movable[0], 0, out, 0, copy);
    return movable.back(out);
}

/// Row i along the first axis.
Tensor row(const StepContext& c, const Tensor& t, int64_t i)
{
    const Shape shape(t.shape().begin() + 1, t.shape().end());
    const Movable movable({ &t });
    Tensor out = c.allocate(movable.dtype(), shape);
    copyStrided(KernelMode::Fast, movable[0], i * out.count(), out, 0, { { out.count() }, { 1 }, { 1 } });
    return movable.back(out);
}

Tensor reversedRows(const StepContext& c, const Tensor& t)
{
    if (t.dim(0) < 2)
        return t;
    const Movable movable({ &t });
    const int64_t rows = t.dim(0), size = t.count() / rows;
    Tensor out = c.allocate(movable.dtype(), t.shape());
    copyStrided(KernelMode::Fast, movable[0], (rows - 1) * size, out, 0, { { rows, size }, { -size, 1 }, { size, 1 } });
    return movable.back(out);
}

int64_t at(const std::vector<int64_t>& list, size_t i) { return i < list.size() ? list[i] : 0; }

/// Of the node, without the opset 8 form's lengths and batch axis.
struct ScanStep {
    std::shared_ptr<const Subgraph> body;
    size_t states = 0, scans = 0;
    bool batched = false; ///< opset 8
    std::vector<int64_t> inputAxes, outputAxes, inputDirections, outputDirections;

    Status run(StepContext& c) const { return batched ? runBatches(c) : runPlain(c); }
    Status runPlain(StepContext& c) const;
    Status runBatches(StepContext& c) const;
    /// One sequence: states and rows in, states and stacked outputs (new axis first, in order of iteration) out.
    Result<std::vector<Tensor>> sequence(
        const StepContext& c, std::vector<Tensor> state, std::span<const Tensor> rows, int64_t length) const;
};

Result<std::vector<Tensor>> ScanStep::sequence(
    const StepContext& c, std::vector<Tensor> state, std::span<const Tensor> rows, int64_t length) const
{
    std::vector<StackedValues> stacked(body->outputCount() - states);
    for (int64_t i = 0; i < length; ++i) {
        if (c.isCancelled())
            return cancelled();
        std::vector<Tensor> values = state;
        for (size_t k = 0; k < scans; ++k)
            values.push_back(row(c, rows[k], at(inputDirections, k) ? length - 1 - i : i));
        QS_TRY(std::vector<Tensor> made, body->run(c, values));
        for (size_t k = 0; k < states; ++k)
            state[k] = std::move(made[k]);
        for (size_t k = 0; k < stacked.size(); ++k)
            QS_CHECK(stacked[k].add(c, made[k + states]));
    }
    for (size_t k = 0; k < stacked.size(); ++k) {
        QS_TRY(Tensor all, stacked[k].take(c, body->outputFact(k + states)));
        state.push_back(at(outputDirections, k) ? reversedRows(c, all) : std::move(all));
    }
    return state;
}

Status ScanStep::runPlain(StepContext& c) const
{
    std::vector<Tensor> state, rows;
    for (size_t i = 0; i < states; ++i)
        state.push_back(c.in(i));
    for (size_t i = 0; i < scans; ++i) {
        const Tensor& t = c.in(states + i);
        QS_TRY(const size_t axis, axisOf(at(inputAxes, i), t.rank()));
        rows.push_back(moveAxis(c, c.toLayout(t, Layout::Plain), axis, 0));
        if (rows[i].dim(0) != rows[0].dim(0))
            return badInput("its scanned inputs have lengths " + std::to_string(rows[0].dim(0)) + " and "
                + std::to_string(rows[i].dim(0)));
    }
    QS_TRY(std::vector<Tensor> made, sequence(c, std::move(state), rows, rows[0].dim(0)));
    for (size_t i = 0; i < c.outputCount(); ++i) {
        if (i >= states) {
            QS_TRY(const size_t axis, axisOf(at(outputAxes, i - states), made[i].rank()));
            made[i] = moveAxis(c, made[i], 0, axis);
        }
        c.setOutput(i, std::move(made[i]));
    }
    return {};
}

/// Rows of `t` up to `length`, the rest zero (strings empty).
Tensor padded(const StepContext& c, const Tensor& t, int64_t length)
{
    if (t.dim(0) == length)
        return t;
    Shape shape = t.shape();
    shape[0] = length;
    const Movable movable({ &t });
    Tensor out = c.allocate(movable.dtype(), shape);
    const std::vector<std::byte> zero = movable.fillElement(nullptr);
    std::byte* bytes = out.fill<std::byte>().data();
    for (size_t i = 0; i < out.byteCount(); ++i)
        bytes[i] = zero[i % zero.size()];
    copyStrided(KernelMode::Fast, movable[0], 0, out, 0, { { t.count() }, { 1 }, { 1 } });
    return movable.back(out);
}

Status ScanStep::runBatches(StepContext& c) const
{
    const Tensor* lengths = c.input(0);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < states + scans; ++i) {
        inputs.push_back(c.toLayout(c.in(i + 1), Layout::Plain));
        const size_t needed = i < states ? 1 : 2;
        if (inputs[i].rank() < needed || inputs[i].dim(0) != inputs[0].dim(0)
            || (i > states && inputs[i].dim(1) != inputs[states].dim(1)))
            return badInput("its inputs differ in batch size or length");
    }
    const int64_t batches = inputs[0].dim(0), longest = inputs[states].dim(1);
    if (lengths && (lengths->count() != batches || !isInteger(lengths->dtype())))
        return badInput("its sequence lengths must be one integer for each of the batch");
    std::vector<StackedValues> all(body->outputCount());
    for (int64_t b = 0; b < batches; ++b) {
        std::vector<Tensor> state, rows;
        for (size_t i = 0; i < inputs.size(); ++i)
            (i < states ? state : rows).push_back(row(c, inputs[i], b));
        const int64_t length = lengths ? elementAsInt(*lengths, b) : longest;
        if (length < 0 || length > longest)
            return badInput(
                "a sequence length of " + std::to_string(length) + " is outside 0.." + std::to_string(longest));
        QS_TRY(std::vector<Tensor> made, sequence(c, std::move(state), rows, length));
        for (size_t k = 0; k < made.size(); ++k)
            QS_CHECK(all[k].add(c, k < states ? made[k] : padded(c, made[k], longest)));
    }
    for (size_t i = 0; i < c.outputCount(); ++i) {
        QS_TRY(Tensor t, all[i].take(c, body->outputFact(i)));
        c.setOutput(i, std::move(t));
    }
    return {};
}

} // namespace

Result<LoweredNode> lowerScan(const LowerContext& c)
{
    const Attributes& a = c.node.attributes;
    ScanStep step;
    step.batched = c.node.opset > 0 && c.node.opset < 9;
    const size_t first = step.batched ? 1 : 0, given = c.node.inputs.size();
    const int64_t scans = a.integer("num_scan_inputs", 0);
    if (scans < 1 || given < first + static_cast<uint64_t>(scans))
        return badInput("num_scan_inputs does not fit its inputs", {}, "export the model again");
    step.scans = static_cast<size_t>(scans);
    step.states = given - first - step.scans;
    step.inputAxes = a.integers("scan_input_axes");
    step.outputAxes = a.integers("scan_output_axes");
    step.inputDirections = a.integers(step.batched ? "directions" : "scan_input_directions");
    step.outputDirections = a.integers("scan_output_directions");
    std::vector<Fact> inputs;
    for (size_t i = first; i < given; ++i)
        inputs.push_back({ c.inputType(i), {}, {} });
    LoweredNode lowered;
    QS_TRY(Subgraph body, Subgraph::make(c, "body", inputs, lowered.captures));
    if (body.inputCount() != inputs.size() || body.outputCount() < step.states
        || c.node.outputs.size() > body.outputCount())
        return badInput("its body does not fit its inputs and outputs", {}, "export the model again");
    step.body = std::make_shared<const Subgraph>(std::move(body));
    lowered.run = [step](StepContext& s) { return step.run(s); };
    lowered.kernel = "scan";
    lowered.layouts = LayoutRule::Any;
    lowered.foldable = false;
    return lowered;
}

} // namespace qs
