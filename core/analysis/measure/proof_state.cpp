// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/proof_state.h"

#include "core/base/files/archived_optional.h"

namespace qs {

namespace {

constexpr size_t kLeastBytes = sizeof(uint64_t); ///< of a text

/// Of texts or numbers.
template <class Stream, class List> void archiveList(Stream& stream, List& list)
{
    stream.size(list, kLeastBytes);
    for (auto& item : list)
        stream.item(item);
}

/// By its index; an invalid one is as the first.
template <class Stream> void archive(Stream& stream, Archived<Stream, ValueId>& id)
{
    uint64_t index = id.valid() ? id.index() : 0;
    stream.item(index);
    if constexpr (Stream::kReads)
        id = ValueId(size_t(index));
}

template <class Stream> void archive(Stream& stream, Archived<Stream, ValueDistance>& d)
{
    archive(stream, d.floatValue);
    stream.item(d.distance);
}

template <class Stream> void archive(Stream& stream, Archived<Stream, ValueOverflow>& o)
{
    archive(stream, o.floatValue);
    stream.item(o.elements);
    stream.item(o.largest);
    stream.item(o.cast);
}

template <class Stream> void archive(Stream& stream, Archived<Stream, CpuSums>& sums)
{
    archive(stream, sums.floatValue);
    stream.item(sums.samples);
    stream.item(sums.exactDb);
    stream.item(sums.cutDb);
}

template <class Stream> void archive(Stream& stream, Archived<Stream, NetworkDistance>& d)
{
    archive(stream, d.worstOutput);
    archiveOptional(stream, d.firstApart, [&](auto& apart) { archive(stream, apart); });
    archiveOptional(stream, d.mostFrom, [&](auto& from) { archive(stream, from); });
    archiveOptional(stream, d.overflow, [&](auto& o) { archive(stream, o); });
    stream.item(d.tolerance);
    archiveOptional(stream, d.explained, [&](auto& explained) { stream.item(explained); });
    stream.item(d.hidden);
    stream.item(d.counted);
    stream.item(d.noNumbers);
    stream.item(d.numbersAlone);
    stream.item(d.zeroInFloat);
    stream.item(d.sample);
    archiveList(stream, d.silent);
}

template <class Stream> void archive(Stream& stream, Archived<Stream, PrecisionStep>& step)
{
    stream.item(step.precision);
    for (auto* flag : { &step.weights, &step.values, &step.inFloatFile, &step.inQuantizedFile })
        stream.item(*flag);
    stream.size(step.roundings, 4 * kLeastBytes);
    for (auto& r : step.roundings) {
        stream.item(r.name);
        stream.item(r.quantizedName);
        stream.item(r.node);
        archiveOptional(stream, r.precision, [&](auto& precision) { stream.item(precision); });
        stream.item(r.distance);
        stream.item(r.zeros);
        stream.item(r.onGrid);
        stream.item(r.holds);
    }
}

template <class Stream> void archive(Stream& stream, Archived<Stream, NetworkProof>& proof)
{
    archiveOptional(stream, proof.withFloatWeights, [&](auto& d) { archive(stream, d); });
    archiveOptional(stream, proof.withStoredWeights, [&](auto& d) { archive(stream, d); });
    archiveOptional(stream, proof.withFloatConstants, [&](auto& d) { archive(stream, d); });
    archiveOptional(stream, proof.withActivations, [&](auto& d) { archive(stream, d); });
    archiveOptional(stream, proof.errorWithout, [&](auto& left) { stream.item(left); });
    archive(stream, proof.errorOutput);
    archiveOptional(stream, proof.rearranged, [&](auto& d) { archive(stream, d); });
    archiveOptional(stream, proof.withOwnWeights, [&](auto& d) { archive(stream, d); });
    archiveList(stream, proof.madeUp);
    archiveList(stream, proof.otherCaches);
    archive(stream, proof.step);
    archiveList(stream, proof.otherFunctions);
    stream.item(proof.reason);
    stream.item(proof.untested);
    archiveList(stream, proof.unpaired);
    stream.size(proof.changed, 5 * kLeastBytes);
    for (auto& c : proof.changed) {
        stream.item(c.text);
        stream.item(c.node);
        stream.item(c.tensor);
        stream.item(c.effect);
        stream.item(c.byConstant);
        stream.item(c.output);
    }
    stream.size(proof.byOutput, 7 * kLeastBytes);
    for (auto& r : proof.byOutput) {
        stream.item(r.name);
        for (auto* number : { &r.moved, &r.steps, &r.error, &r.factor, &r.part, &r.shift })
            stream.item(*number);
    }
    stream.item(proof.exchanged);
    stream.item(proof.past);
    archiveOptional(stream, proof.padding, [&](auto& padding) {
        stream.item(padding.positions);
        stream.item(padding.left);
        stream.item(padding.mask);
        stream.item(padding.inFloat);
    });
    archiveList(stream, proof.unreached);
    archiveOptional(stream, proof.cpuSums, [&](auto& sums) { archive(stream, sums); });
    stream.size(proof.biasShifts, 3 * kLeastBytes);
    for (auto& shift : proof.biasShifts) {
        stream.item(shift.quantizer);
        archive(stream, shift.floatValue);
        stream.item(shift.apart);
        stream.item(shift.left);
    }
}

/// The reader takes any number for a value, and for a precision.
bool fits(const NetworkProof& proof, const Graph& graph)
{
    for (const auto* d : { &proof.withFloatWeights, &proof.withStoredWeights, &proof.withFloatConstants,
             &proof.withActivations, &proof.rearranged, &proof.withOwnWeights })
        if (*d
            && ((*d)->worstOutput.floatValue.index() >= graph.values().size()
                || ((*d)->overflow && (*d)->overflow->floatValue.index() >= graph.values().size())
                || ((*d)->mostFrom && (*d)->mostFrom->floatValue.index() >= graph.values().size())
                || ((*d)->firstApart && (*d)->firstApart->floatValue.index() >= graph.values().size())))
            return false;
    if (proof.cpuSums && proof.cpuSums->floatValue.index() >= graph.values().size())
        return false;
    if (proof.errorOutput.index() >= graph.values().size())
        return false;
    for (const BiasShift& shift : proof.biasShifts)
        if (shift.floatValue.index() >= graph.values().size())
            return false;
    for (const WeightRounding& r : proof.step.roundings)
        if (r.precision && *r.precision > kCoarsestPrecision)
            return false;
    return proof.step.precision <= kCoarsestPrecision && proof.past <= PastProof::Untested;
}

} // namespace

void writeProof(const std::optional<NetworkProof>& proof, ByteWriter& out)
{
    archiveOptional(out, proof, [&](const NetworkProof& p) { archive(out, p); });
}

void mergeProof(ByteReader& in, const Graph& floatGraph, std::optional<NetworkProof>& proof)
{
    std::optional<NetworkProof> found;
    archiveOptional(in, found, [&](NetworkProof& p) { archive(in, p); });
    if (found && in.ok() && !fits(*found, floatGraph))
        in.fail();
    if (found && in.ok())
        proof = std::move(found);
}

} // namespace qs
