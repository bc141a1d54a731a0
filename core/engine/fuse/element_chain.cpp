// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/element_chain.h"

#include "core/engine/lower/common/element_types.h"

#include <algorithm>
#include <optional>

namespace qs {

namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr int64_t kLongestPeriod = 16384; ///< of a repeated operand, which is unrolled for each piece

/// A member of the chain: its inputs are values from outside, or results of earlier members.
struct Member {
    std::string name;
    LoweredNode lowered;
    struct Source {
        size_t outside = kNone; ///< index of the unit's input
        size_t member = kNone;
    };
    std::vector<Source> inputs; ///< in node order; both kNone = absent
};

/// What a chain does to its head's result, where that is as little as a SumEpilogue.
struct ChainEpilogue {
    size_t addend = kNone; ///< slot of the program
    SumEpilogue bound;
};

/// The chain as it runs. Slot 0 of the program is the first member's result when that is no element-wise function
/// itself; the other slots are inputs of the unit.
struct Chain {
    std::vector<Member> members;
    bool headed = false; ///< the first member is a convolution or product
    std::vector<size_t> operands; ///< by slot of the program: input of the unit (kNone: the head's result)
    std::vector<bool> wide; ///< by slot: must have an element for each of the result (a unary function reads it)
    std::unique_ptr<ElementProgram> program;
    std::optional<ChainEpilogue> epilogue; ///< of a head
    bool addendReadOnce = false; ///< by no member but the one that adds it
};

/// How input `t` meets every element of `y`, or nothing where it does not without a walk of its own. `keep` holds a
/// converted copy.
std::optional<ElementProgram::Operand> operandFor(
    const StepContext& c, const Tensor& t, const Tensor& y, bool wide, Tensor& keep)
{
    if (t.dtype() != DType::Float32)
        return {};
    if (t.shape() == y.shape()) {
        // Node by node, one operand with channels last would make the result channels-last.
        if (t.layout() != y.layout() && y.layout() == Layout::Plain)
            return {};
        keep = c.toLayout(t, y.layout());
        return ElementProgram::Operand { keep.data<float>().data(), 0 };
    }
    if (wide || t.rank() > y.rank() || t.layout() != Layout::Plain)
        return {};
    if (t.count() == 1)
        return ElementProgram::Operand { t.data<float>().data(), 1 };
    const size_t offset = y.rank() - t.rank();
    const size_t channelAxis = y.layout() == Layout::ChannelsLast ? 1 : y.rank() - 1;
    if (y.layout() == Layout::ChannelsLast) { // one element a channel
        for (size_t d = 0; d < t.rank(); ++d)
            if (t.dim(d) != (d + offset == channelAxis ? y.dim(d + offset) : 1))
                return {};
    } else { // the last axes
        bool leading = true;
        for (size_t d = 0; d < t.rank(); ++d) {
            leading = leading && t.dim(d) == 1;
            if (!leading && t.dim(d) != y.dim(d + offset))
                return {};
        }
    }
    if (t.count() == y.count()) // axes of size 1 aside, the same shape
        return ElementProgram::Operand { t.data<float>().data(), 0 };
    if (t.count() > kLongestPeriod)
        return {};
    return ElementProgram::Operand { t.data<float>().data(), static_cast<size_t>(t.count()) };
}

/// What one run of the program needs.
struct Bound {
    std::vector<ElementProgram::Operand> operands;
    std::vector<Tensor> kept;
    Tensor scratch;
    size_t scratchFloats = 0; ///< of each worker
};

/// Null when the chain cannot be computed in one pass over `y`.
std::shared_ptr<Bound> bind(const Chain& chain, const StepContext& c, const Tensor& y)
{
    auto bound = std::make_shared<Bound>();
    for (size_t slot = 0; slot < chain.operands.size(); ++slot) {
        const size_t input = chain.operands[slot];
        if (input == kNone) {
            bound->operands.push_back({ y.data<float>().data(), 0 });
            continue;
        }
        bound->kept.emplace_back();
        const auto operand = operandFor(c, c.in(input), y, chain.wide[slot], bound->kept.back());
        if (!operand)
            return nullptr;
        bound->operands.push_back(*operand);
    }
    bound->scratchFloats = (chain.program->scratchFloats(bound->operands) + 15) / 16 * 16;
    bound->scratch
        = c.allocate(DType::Float32, { static_cast<int64_t>(bound->scratchFloats * std::max<size_t>(c.workers(), 1)) });
    return bound;
}

/// `then` (may be empty) is told of each piece behind the program.
PieceFn pieceFn(const Chain& chain, std::shared_ptr<Bound> bound, PieceFn then)
{
    float* scratch = bound->scratch.fill<float>().data();
    return [&chain, bound = std::move(bound), then = std::move(then), scratch](
               float* y, size_t begin, size_t end, size_t worker) {
        chain.program->run(bound->operands, y, begin, end, scratch + worker * bound->scratchFloats);
        if (then)
            then(y, begin, end, worker);
    };
}

std::optional<SumEpilogue> sumsOf(const Chain& chain, const Bound& bound)
{
    if (!chain.epilogue)
        return {};
    SumEpilogue sums = chain.epilogue->bound;
    if (chain.epilogue->addend == kNone)
        return sums;
    const ElementProgram::Operand& addend = bound.operands[chain.epilogue->addend];
    if (addend.period != 0)
        return {};
    sums.addend = addend.data;
    return sums;
}

/// The addend's memory, if it may be replaced by the sum.
Tensor homeOf(const Chain& chain, const StepContext& c, const Tensor& y)
{
    if (!chain.epilogue || chain.epilogue->addend == kNone || !chain.addendReadOnce)
        return {};
    const size_t input = chain.operands[chain.epilogue->addend];
    const Tensor& t = c.in(input);
    const bool fits = t.dtype() == y.dtype() && t.shape() == y.shape() && t.layout() == y.layout();
    return fits && c.mayReplace(input) ? t : Tensor();
}

/// Runs member `m` with what the others made; `epilogue` as in LoweredNode::runInPieces.
Status runMember(
    const Chain& chain, size_t m, std::vector<Tensor>& results, StepContext& c, const EpilogueFn* epilogue = nullptr)
{
    const Member& member = chain.members[m];
    std::vector<Tensor> plain(member.inputs.size());
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < member.inputs.size(); ++i) {
        const auto& source = member.inputs[i];
        const Tensor* t = source.member != kNone ? &results[source.member]
            : source.outside != kNone            ? c.input(source.outside)
                                                 : nullptr;
        if (t && member.lowered.layouts == LayoutRule::Plain && t->layout() != Layout::Plain) {
            plain[i] = c.toLayout(*t, Layout::Plain);
            t = &plain[i];
        }
        inputs.push_back(t);
    }
    StepContext own(inputs, std::span(&results[m], 1), c.pool(), {}, c.cancelToken());
    own.useTeam(c.team());
    Status status = epilogue ? member.lowered.runInPieces(own, *epilogue) : member.lowered.run(own);
    if (status.ok())
        return status;
    Issue issue = std::move(status).issue();
    if (issue.node.empty())
        issue.node = member.name;
    return issue;
}

Status runNodeByNode(const Chain& chain, size_t first, std::vector<Tensor>& results, StepContext& c)
{
    for (size_t m = first; m < chain.members.size(); ++m)
        QS_CHECK(runMember(chain, m, results, c));
    c.setOutput(0, std::move(results.back()));
    return {};
}

/// `last`: as in LoweredNode::runInPieces; may be empty.
Status runHeaded(const Chain& chain, StepContext& c, const EpilogueFn& last)
{
    std::vector<Tensor> results(chain.members.size());
    bool finished = false;
    const EpilogueFn epilogue = [&](const Tensor& y) {
        auto bound = bind(chain, c, y);
        finished = bound != nullptr;
        if (!bound)
            return Epilogue();
        const PieceFn behind = last ? last(y).take : PieceFn();
        const std::optional<SumEpilogue> sums = sumsOf(chain, *bound);
        return Epilogue { pieceFn(chain, std::move(bound), behind), sums, sums ? homeOf(chain, c, y) : Tensor(),
            behind };
    };
    QS_CHECK(runMember(chain, 0, results, c, &epilogue));
    if (!finished)
        return runNodeByNode(chain, 1, results, c);
    c.setOutput(0, std::move(results[0]));
    return {};
}

/// The input whose shape and layout the result has, if one has them all.
size_t widestOperand(const Chain& chain, const StepContext& c)
{
    size_t widest = chain.operands.front();
    const Tensor* best = nullptr;
    for (const size_t input : chain.operands)
        if (const Tensor& t = c.in(input); !best || t.count() > best->count()
            || (t.count() == best->count() && t.rank() > best->rank())
            || (t.shape() == best->shape() && t.layout() == Layout::ChannelsLast)) {
            best = &t;
            widest = input;
        }
    return widest;
}

Status runHeadless(const Chain& chain, StepContext& c, const EpilogueFn& last)
{
    constexpr size_t kPiece = 16384; // elements
    for (const size_t input : chain.operands)
        if (!c.input(input))
            return badInput("an operand is missing");
    const size_t widest = widestOperand(chain, c);
    const Tensor* like = c.input(widest);
    if (like->dtype() == DType::Float32) {
        Tensor y = c.mayReplace(widest) ? *like : c.allocate(DType::Float32, like->shape(), like->layout());
        if (auto bound = bind(chain, c, y)) {
            const PieceFn take = pieceFn(chain, std::move(bound), last ? last(y).take : PieceFn());
            float* out = y.fill<float>().data();
            const auto count = static_cast<size_t>(y.count());
            c.parallel((count + kPiece - 1) / kPiece,
                [&](size_t i, size_t worker) { take(out, i * kPiece, std::min(count, (i + 1) * kPiece), worker); });
            c.setOutput(0, std::move(y));
            return {};
        }
    }
    std::vector<Tensor> results(chain.members.size());
    return runNodeByNode(chain, 0, results, c);
}

/// Inputs of the unit, and where each member takes its own from.
void wire(const LoweredGraph& lowered, const std::vector<NodeId>& nodes, Chain& chain, FusedUnit& unit)
{
    for (NodeId id : nodes) {
        Member member { lowered.graph().node(id).name, *lowered.step(id).lowered, {} };
        for (ValueId in : lowered.graph().node(id).inputs) {
            Member::Source source;
            if (in.valid()) {
                const auto made = std::ranges::find(unit.inner, in);
                if (made != unit.inner.end()) {
                    source.member = static_cast<size_t>(made - unit.inner.begin());
                } else {
                    const auto known = std::ranges::find(unit.inputs, in);
                    source.outside = static_cast<size_t>(known - unit.inputs.begin());
                    if (known == unit.inputs.end())
                        unit.inputs.push_back(in);
                }
            }
            member.inputs.push_back(source);
        }
        chain.members.push_back(std::move(member));
        unit.inner.push_back(lowered.graph().node(id).outputs[0]);
    }
    unit.inner.pop_back();
}

/// The sum of the head (slot 0) and another operand, a bound, or both in this order.
std::optional<ChainEpilogue> recognizeEpilogue(std::span<const ElementProgram::Instruction> code, size_t operands)
{
    ChainEpilogue epilogue;
    size_t at = 0, value = 0;
    if (code[0].op.binary) {
        const auto& [op, a, b] = code[0];
        if (op.op != BinaryOp::Add || (a == 0) == (b == 0) || std::max(a, b) >= operands)
            return {};
        epilogue.addend = std::max(a, b);
        value = operands + at++;
    }
    if (at < code.size()) {
        const ElementOp& op = code[at].op;
        if (op.binary || code[at].a != value || (op.unary != UnaryOp::Relu && op.unary != UnaryOp::Clip))
            return {};
        epilogue.bound.bound = op.unary == UnaryOp::Relu ? SumEpilogue::Bound::Relu : SumEpilogue::Bound::Clip;
        epilogue.bound.low = static_cast<float>(op.params.low);
        epilogue.bound.high = static_cast<float>(op.params.high);
        ++at;
    }
    return at == code.size() ? std::optional(epilogue) : std::nullopt;
}

void compile(Chain& chain)
{
    chain.headed = chain.members[0].lowered.runInPieces != nullptr;
    const size_t first = chain.headed ? 1 : 0;
    if (chain.headed) {
        chain.operands.push_back(kNone);
        chain.wide.push_back(false);
    }
    std::vector<ElementProgram::Instruction> code;
    auto operandSlot = [&](size_t input, bool wide) {
        const auto known = std::ranges::find(chain.operands, input);
        const auto slot = static_cast<size_t>(known - chain.operands.begin());
        if (known == chain.operands.end()) {
            chain.operands.push_back(input);
            chain.wide.push_back(false);
        }
        chain.wide[slot] = chain.wide[slot] || wide;
        return slot;
    };
    // Operands first: results are numbered after them.
    for (size_t m = first; m < chain.members.size(); ++m) {
        const bool binary = chain.members[m].lowered.element->binary;
        for (size_t i = 0; i < (binary ? 2u : 1u); ++i)
            if (const auto& source = chain.members[m].inputs[i]; source.outside != kNone)
                operandSlot(source.outside, !binary);
    }
    for (size_t m = first; m < chain.members.size(); ++m) {
        const Member& member = chain.members[m];
        auto slot = [&](size_t i) {
            const Member::Source& source = member.inputs[i];
            if (source.outside != kNone)
                return operandSlot(source.outside, false);
            return chain.headed && source.member == 0 ? size_t(0) : chain.operands.size() + source.member - first;
        };
        const ElementOp& op = *member.lowered.element;
        code.push_back({ op, slot(0), op.binary ? slot(1) : 0 });
    }
    if (chain.headed)
        chain.epilogue = recognizeEpilogue(code, chain.operands.size());
    if (chain.epilogue && chain.epilogue->addend != kNone) {
        const size_t input = chain.operands[chain.epilogue->addend];
        size_t reads = 0;
        for (const Member& member : chain.members)
            reads += static_cast<size_t>(std::ranges::count(member.inputs, input, &Member::Source::outside));
        chain.addendReadOnce = reads == 1;
    }
    chain.program = std::make_unique<ElementProgram>(chain.operands.size(), std::move(code));
}

} // namespace

FusedUnit makeChainUnit(const LoweredGraph& lowered, const std::vector<NodeId>& nodes)
{
    auto chain = std::make_shared<Chain>();
    FusedUnit unit;
    unit.node = nodes.front();
    unit.nodes = nodes;
    wire(lowered, nodes, *chain, unit);
    compile(*chain);
    unit.lowered.layouts = LayoutRule::Any;
    unit.lowered.replaces = true;
    unit.lowered.runInPieces = [chain](StepContext& c, const EpilogueFn& last) {
        return chain->headed ? runHeaded(*chain, c, last) : runHeadless(*chain, c, last);
    };
    unit.lowered.run = [inPieces = unit.lowered.runInPieces](StepContext& c) { return inPieces(c, {}); };
    unit.lowered.kernel = chain->members[0].lowered.kernel;
    for (size_t i = 1; i < nodes.size(); ++i)
        unit.lowered.kernel += " + " + lowered.graph().node(nodes[i]).opType;
    return unit;
}

} // namespace qs
