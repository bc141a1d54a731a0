// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/recurrent/parts.h"

#include "core/base/text/lower_case.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cctype>
#include <new>

namespace qs {

namespace {

/// A function by its ONNX name with the next of the node's alphas and betas, if it takes them.
struct FunctionReader {
    std::vector<float> alphas, betas;
    size_t nextAlpha = 0, nextBeta = 0;

    double alpha(double fallback) { return nextAlpha < alphas.size() ? double(alphas[nextAlpha++]) : fallback; }
    double beta(double fallback) { return nextBeta < betas.size() ? double(betas[nextBeta++]) : fallback; }
    Result<CellFunction> read(std::string name);
};

Result<CellFunction> FunctionReader::read(std::string name)
{
    name = lowerCase(std::move(name));
    const auto plain = [](UnaryOp op, double a = 0, double b = 0) {
        CellFunction f { op };
        f.params.a = a;
        f.params.b = b;
        return f;
    };
    if (name == "relu")
        return plain(UnaryOp::Relu);
    if (name == "tanh")
        return plain(UnaryOp::Tanh);
    if (name == "sigmoid")
        return plain(UnaryOp::Sigmoid);
    if (name == "softsign")
        return plain(UnaryOp::Softsign);
    if (name == "softplus")
        return plain(UnaryOp::Softplus);
    if (name == "leakyrelu")
        return plain(UnaryOp::LeakyRelu, alpha(0.01f));
    if (name == "thresholdedrelu")
        return plain(UnaryOp::ThresholdedRelu, alpha(1));
    if (name == "elu")
        return plain(UnaryOp::Elu, alpha(1));
    CellFunction f;
    if (name == "hardsigmoid") {
        f = plain(UnaryOp::HardSigmoid);
        f.params.a = alpha(0.2f);
        f.params.b = beta(0.5f);
    } else if (name == "affine") {
        f.after = alpha(1);
        f.plus = beta(0);
    } else if (name == "scaledtanh") {
        f = plain(UnaryOp::Tanh);
        f.after = alpha(1);
        f.before = beta(1);
    } else {
        return badInput("the activation '" + name + "' is not known", {}, "export the model again");
    }
    return f;
}

std::vector<std::string> defaultFunctions(CellKind kind)
{
    switch (kind) {
    case CellKind::Rnn:
        return { "Tanh" };
    case CellKind::Gru:
        return { "Sigmoid", "Tanh" };
    default:
        return { "Sigmoid", "Tanh", "Tanh" };
    }
}

Issue misfit(const char* what, const Tensor& t, const Shape& wanted)
{
    return badInput(std::string(what) + " has shape " + shapeText(t.shape()) + ", but needs " + shapeText(wanted), {},
        "export the model again");
}

/// An optional input as W, or an invalid tensor; its shape must be `wanted`.
template <class W>
Result<Tensor> optionalInput(const StepContext& c, size_t slot, const char* what, const Shape& wanted)
{
    const Tensor* t = c.input(slot);
    if (!t)
        return Tensor();
    if (t->shape() != wanted)
        return misfit(what, *t, wanted);
    if (!isComputedFloat(t->dtype()))
        return unsupportedType(t->dtype());
    return asWork<W>(c, *t);
}

} // namespace

Result<RecurrentNode> recurrentNode(const Node& node, CellKind kind)
{
    const Attributes& a = node.attributes;
    RecurrentNode r;
    r.kind = kind;
    r.hidden = a.integer("hidden_size", 0);
    r.batchFirst = a.integer("layout", 0) != 0;
    const std::string direction = a.text("direction", "forward");
    if (direction == "bidirectional")
        r.reversed = { false, true };
    else if (direction == "forward" || direction == "reverse")
        r.reversed = { direction == "reverse" };
    else
        return badInput("the direction '" + direction + "' is not known", {}, "export the model again");
    const std::vector<std::string> usual = defaultFunctions(kind);
    std::vector<std::string> names;
    if (const auto* given = a.get<std::vector<std::string>>("activations"))
        names = *given;
    if (names.empty())
        for (size_t d = 0; d < r.reversed.size(); ++d)
            names.insert(names.end(), usual.begin(), usual.end());
    if (names.size() != usual.size() * r.reversed.size())
        return badInput("it needs " + std::to_string(usual.size() * r.reversed.size()) + " activations, but has "
                + std::to_string(names.size()),
            {}, "export the model again");
    FunctionReader reader { a.reals("activation_alpha"), a.reals("activation_beta") };
    r.cells.assign(r.reversed.size(), {});
    for (size_t i = 0; i < names.size(); ++i) {
        QS_TRY(r.cells[i / usual.size()].functions[i % usual.size()], reader.read(names[i]));
    }
    for (RecurrentCell& cell : r.cells) {
        cell.kind = kind;
        cell.clip = a.real("clip", 0);
        cell.coupled = a.integer("input_forget", 0) != 0;
        cell.linearBeforeReset = a.integer("linear_before_reset", 0) != 0;
    }
    return r;
}

Tensor permuted(const StepContext& c, const Tensor& t, const std::vector<size_t>& order)
{
    const auto strides = rowMajorStrides(t.shape());
    StridedCopy copy;
    for (size_t axis : order) {
        copy.shape.push_back(t.dim(axis));
        copy.from.push_back(strides[axis]);
    }
    copy.to = rowMajorStrides(copy.shape);
    Tensor out = c.allocate(t.dtype(), copy.shape);
    copyStrided(KernelMode::Fast, t, 0, out, 0, copy);
    return out;
}

Result<RecurrentSizes> recurrentSizes(
    const RecurrentNode& node, const Tensor& x, int64_t weightInput, int64_t hidden, int64_t directions)
{
    if (!isComputedFloat(x.dtype()))
        return unsupportedType(x.dtype());
    if (x.rank() != 3)
        return badInput("X has rank " + std::to_string(x.rank()) + ", but needs rank 3");
    if (directions != int64_t(node.directions()))
        return badInput("its weights have " + std::to_string(directions) + " directions, but its attributes say "
            + std::to_string(node.directions()));
    if (node.hidden != 0 && node.hidden != hidden)
        return badInput("its weights have a hidden size of " + std::to_string(hidden) + ", but its attribute says "
            + std::to_string(node.hidden));
    RecurrentSizes s { x.dim(0), x.dim(1), x.dim(2), hidden };
    if (node.batchFirst)
        std::swap(s.length, s.batch);
    if (weightInput != s.input)
        return badInput(
            "X has " + std::to_string(s.input) + " features, but the weights need " + std::to_string(weightInput));
    // What is allocated for the gates of all steps.
    if (!elementCount({ s.length, s.batch, 16, std::max<int64_t>(hidden, 1), 16 }))
        return badInput("its sizes are too large");
    return s;
}

template <class W>
Result<RecurrentData<W>> RecurrentData<W>::load(const RecurrentNode& node, const StepContext& c, RecurrentSizes s)
{
    RecurrentData d;
    d.m_sizes = s;
    d.m_reversed = node.reversed;
    d.m_type = c.in(0).dtype();
    d.m_gates = gateCount(node.kind);
    const auto dirs = int64_t(node.directions());
    const Shape state = node.batchFirst ? Shape { s.batch, dirs, s.hidden } : Shape { dirs, s.batch, s.hidden };
    const bool lstm = node.kind == CellKind::Lstm;
    d.m_x = asWork<W>(c, c.in(0));
    QS_TRY(d.m_bias, optionalInput<W>(c, 3, "B", { dirs, 2 * d.m_gates * s.hidden }));
    QS_TRY(d.m_h0, optionalInput<W>(c, 5, "initial_h", state));
    if (lstm) {
        QS_TRY(d.m_c0, optionalInput<W>(c, 6, "initial_c", state));
        QS_TRY(d.m_peepholes, optionalInput<W>(c, 7, "P", { dirs, 3 * s.hidden }));
    }
    if (node.batchFirst)
        for (Tensor* t : { &d.m_x, &d.m_h0, &d.m_c0 })
            if (t->valid())
                *t = permuted(c, *t, { 1, 0, 2 });
    if (const Tensor* lengths = c.input(4)) {
        if (lengths->shape() != Shape { s.batch } || !isInteger(lengths->dtype()))
            return misfit("sequence_lens", *lengths, { s.batch });
        d.m_lengths = toInts(*lengths);
        for (int64_t length : d.m_lengths)
            if (length < 0 || length > s.length)
                return badInput(
                    "a sequence length of " + std::to_string(length) + " is outside 0.." + std::to_string(s.length));
    }
    d.m_y = c.allocate(dtypeOf<W>(), { s.length, dirs, s.batch, s.hidden });
    d.m_lastH = c.allocate(dtypeOf<W>(), { dirs, s.batch, s.hidden });
    if (lstm)
        d.m_lastC = c.allocate(dtypeOf<W>(), { dirs, s.batch, s.hidden });
    return d;
}

template <class W> RecurrentRun<W> RecurrentData<W>::direction(size_t index)
{
    const RecurrentSizes& s = m_sizes;
    const auto d = int64_t(index);
    const int64_t states = s.batch * s.hidden;
    const auto at
        = [](const Tensor& t, int64_t offset) -> const W* { return t.valid() ? t.data<W>().data() + offset : nullptr; };
    RecurrentRun<W> run { s.length, s.batch, s.input, s.hidden };
    run.x = m_x.data<W>().data();
    run.bias = at(m_bias, d * 2 * m_gates * s.hidden);
    run.peepholes = at(m_peepholes, d * 3 * s.hidden);
    run.h0 = at(m_h0, d * states);
    run.c0 = at(m_c0, d * states);
    run.lengths = m_lengths.empty() ? nullptr : m_lengths.data();
    run.reverse = m_reversed[index];
    run.y = m_y.fill<W>().data() + d * states;
    run.yStep = int64_t(m_reversed.size()) * states;
    run.lastH = m_lastH.fill<W>().data() + d * states;
    run.lastC = m_lastC.valid() ? m_lastC.fill<W>().data() + d * states : nullptr;
    return run;
}

template <class W> void RecurrentData<W>::finish(const RecurrentNode& node, StepContext& c)
{
    const auto give = [&](size_t i, Tensor& t, const std::vector<size_t>& order) {
        if (i >= c.outputCount() || !t.valid())
            return;
        if (node.batchFirst)
            t = permuted(c, t, order);
        c.setOutput(i, fromWork<W>(c, std::move(t), m_type));
    };
    give(0, m_y, { 2, 0, 1, 3 });
    give(1, m_lastH, { 1, 0, 2 });
    give(2, m_lastC, { 1, 0, 2 });
}

template class RecurrentData<float>;
template class RecurrentData<double>;

Status runRecurrentFast(const RecurrentNode& node, StepContext& c, RecurrentSizes sizes,
    const std::function<RecurrentProducts(size_t direction, const RecurrentRun<float>& run)>& products)
{
    QS_TRY(RecurrentData<float> data, RecurrentData<float>::load(node, c, sizes));
    for (size_t d = 0; d < node.directions(); ++d) {
        const RecurrentRun<float> run = data.direction(d);
        Tensor scratch = c.allocate(DType::Float32, { int64_t(recurrentScratch(node.kind, run)) });
        const bool done = recurrentFast(
            node.cells[d], run, products(d, run), scratch.fill<float>().data(), [&c] { return c.isCancelled(); });
        if (c.isCancelled())
            return cancelled();
        if (!done)
            throw std::bad_alloc();
    }
    data.finish(node, c);
    return {};
}

} // namespace qs
