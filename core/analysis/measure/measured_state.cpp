// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/measured_state.h"

#include "core/analysis/measure/proof_state.h"

#include <algorithm>
#include <bit>
#include <span>

namespace qs {

namespace {

static_assert(std::endian::native == std::endian::little);
static_assert(std::is_trivially_copyable_v<PairSums> && sizeof(PairSums) == 21 * sizeof(double),
    "raise kMeasuredVersion when the sums change");

static_assert(std::is_trivially_copyable_v<ScoreSums> && sizeof(ScoreSums) == 7 * sizeof(double),
    "raise kMeasuredVersion when the sums change");

static_assert(std::is_trivially_copyable_v<MaskSums> && sizeof(MaskSums) == 3 * sizeof(double),
    "raise kMeasuredVersion when the sums change");

static_assert(std::is_trivially_copyable_v<BoxSums> && sizeof(BoxSums) == 7 * sizeof(double),
    "raise kMeasuredVersion when the sums change");

static_assert(std::is_trivially_copyable_v<InputSums> && sizeof(InputSums) == 6 * sizeof(double),
    "raise kMeasuredVersion when the sums change");

template <class Sums> void writeSums(const std::vector<Sums>& sums, ByteWriter& out)
{
    std::vector<double> words(sums.size() * sizeof(Sums) / sizeof(double));
    if (!sums.empty())
        std::memcpy(words.data(), sums.data(), words.size() * sizeof(double));
    out.numbers(words);
}

static_assert(std::is_trivially_copyable_v<TokenScores> && sizeof(TokenScores) == 4 * sizeof(double),
    "raise kMeasuredVersion when the scores change");

using Tokens = std::vector<std::vector<TokenScores>>;

void writeTokens(const Tokens& tokens, ByteWriter& out)
{
    std::vector<uint64_t> sizes;
    std::vector<TokenScores> all;
    for (const auto& prompt : tokens) {
        sizes.push_back(prompt.size());
        all.insert(all.end(), prompt.begin(), prompt.end());
    }
    out.numbers(sizes);
    writeSums(all, out);
}

/// Where the samples of a part go: rows of `whole` samples each, `part` of them from `first` on.
struct Place {
    size_t first, part, whole;
};

template <class T> void put(const std::vector<T>& part, const Place& at, std::vector<T>& whole, ByteReader& in)
{
    const size_t rows = at.whole > 0 ? whole.size() / at.whole : 0;
    if (part.size() != rows * at.part)
        return in.fail();
    for (size_t row = 0; row < rows; ++row)
        std::copy_n(
            part.begin() + ptrdiff_t(row * at.part), at.part, whole.begin() + ptrdiff_t(row * at.whole + at.first));
}

template <class Sums> void putSums(ByteReader& in, const Place& at, std::vector<Sums>& whole)
{
    const std::vector<double> words = in.numbers<double>();
    std::vector<Sums> part(words.size() * sizeof(double) / sizeof(Sums));
    if (!part.empty())
        std::memcpy(static_cast<void*>(part.data()), words.data(), part.size() * sizeof(Sums));
    put(part, at, whole, in);
}

void writeShared(const PairShared& shared, ByteWriter& out)
{
    for (const Histogram* h :
        { &shared.histograms.x, &shared.histograms.y, &shared.histograms.error, &shared.histograms.before })
        h->write(out);
    shared.histograms.inherited.write(out);
    std::vector<uint8_t> codes(shared.codes.size());
    for (size_t i = 0; i < codes.size(); ++i)
        codes[i] = shared.codes[i];
    out.numbers(codes);
    out.numbers(shared.shape);
    out.numbers(shared.cachePeaks);
}

void mergeShared(ByteReader& in, bool earliest, PairShared& shared)
{
    for (Histogram* h :
        { &shared.histograms.x, &shared.histograms.y, &shared.histograms.error, &shared.histograms.before })
        h->merge(Histogram::read(in));
    shared.histograms.inherited.merge(InheritedBins::read(in));
    const auto codes = in.numbers<uint8_t>();
    for (size_t i = 0; i < std::min(codes.size(), shared.codes.size()); ++i)
        if (codes[i])
            shared.codes.set(i);
    const auto shape = in.numbers<int64_t>();
    if (!shape.empty() && (shared.shape.empty() || earliest))
        shared.shape = Shape(shape.begin(), shape.end());
    mergePeaks(in.numbers<float>(), shared.cachePeaks);
}

void mergeParts(ByteReader& in, const std::vector<std::unique_ptr<SharedCounts>>& whole)
{
    if (in.number<uint64_t>() != whole.size())
        return in.fail();
    for (const auto& parts : whole) {
        const PartCounts more { in.numbers<uint64_t>(), in.numbers<uint64_t>() };
        if (more.all.size() != more.same.size())
            return in.fail();
        parts->merge(more);
    }
}

void writeImplementation(const ImplementationSums& sums, ByteWriter& out)
{
    out.number<uint64_t>(sums.codes.size());
    for (const auto& [id, d] : sums.codes) {
        out.number<uint64_t>(id.index());
        out.number(d.count);
        out.number(d.offByOne);
        out.number(d.beyond);
        out.number(d.squares);
    }
    out.number<uint64_t>(sums.sums.size());
    for (const auto& [id, d] : sums.sums) {
        out.number<uint64_t>(id.index());
        out.number(d.count);
        for (const OrderedSum* sum : { &d.squares, &d.signal }) {
            out.number<uint64_t>(sum->parts().size());
            for (const auto& [exponent, times] : sum->parts()) {
                out.number(exponent);
                out.number(times);
            }
        }
    }
    out.number<uint64_t>(sums.pairs.size());
    for (const auto& [id, counts] : sums.pairs) {
        out.number<uint64_t>(id.index());
        out.number<uint64_t>(counts.pairs);
        out.numbers(counts.saturated);
        for (const int64_t part : { counts.worst.column, counts.worst.index })
            out.number(part);
        for (const int32_t code : { counts.worst.a0, counts.worst.a1, counts.worst.w0, counts.worst.w1 })
            out.number(code);
    }
}

void mergeImplementation(ByteReader& in, const Graph& graph, ImplementationSums& sums)
{
    auto id = [&](size_t known) {
        const auto index = in.number<uint64_t>();
        if (index < known)
            return size_t(index);
        in.fail();
        return size_t(0);
    };
    for (size_t i = in.count(5 * sizeof(uint64_t)); i > 0; --i) {
        CodeDifference& d = sums.codes[ValueId(id(graph.values().size()))];
        d.count += in.number<uint64_t>();
        d.offByOne += in.number<uint64_t>();
        d.beyond += in.number<uint64_t>();
        d.squares += in.number<uint64_t>();
    }
    for (size_t i = in.count(4 * sizeof(uint64_t)); i > 0; --i) {
        SumDifference& d = sums.sums[ValueId(id(graph.values().size()))];
        d.count += in.number<uint64_t>();
        for (OrderedSum* sum : { &d.squares, &d.signal })
            for (size_t k = in.count(sizeof(int32_t) + sizeof(uint64_t)); k > 0; --k) {
                const auto exponent = in.number<int32_t>();
                sum->add(exponent, in.number<uint64_t>());
            }
    }
    std::map<NodeId, PairCounts> more;
    for (size_t i = in.count(3 * sizeof(uint64_t)); i > 0; --i) {
        PairCounts& counts = more[NodeId(id(graph.nodes().size()))];
        counts.pairs = in.number<uint64_t>();
        counts.saturated = in.numbers<uint64_t>();
        for (int64_t* part : { &counts.worst.column, &counts.worst.index })
            *part = in.number<int64_t>();
        for (int32_t* code : { &counts.worst.a0, &counts.worst.a1, &counts.worst.w0, &counts.worst.w1 })
            *code = in.number<int32_t>();
    }
    addPairCounts(sums.pairs, more);
}

void putTokens(ByteReader& in, const Place& at, Tokens& whole)
{
    const auto sizes = in.numbers<uint64_t>();
    const auto words = in.numbers<double>();
    constexpr size_t kWords = sizeof(TokenScores) / sizeof(double);
    Tokens part;
    size_t next = 0;
    for (const uint64_t size : sizes) {
        if (size > (words.size() - next) / kWords)
            return in.fail();
        part.emplace_back(size_t(size));
        if (size > 0)
            std::memcpy(static_cast<void*>(part.back().data()), &words[next], size_t(size) * sizeof(TokenScores));
        next += size_t(size) * kWords;
    }
    if (next != words.size())
        return in.fail();
    put(part, at, whole, in);
}

/// What one shard found out is so.
void mergeReadsAhead(ByteReader& in, std::vector<uint8_t>& whole)
{
    const auto part = in.numbers<uint8_t>();
    if (part.size() != whole.size())
        return in.fail();
    for (size_t i = 0; i < part.size(); ++i)
        whole[i] |= uint8_t(part[i] != 0);
}

} // namespace

void writeMeasured(const Measured& m, ByteWriter& out)
{
    writeProof(m.proof, out);
    out.number<uint8_t>(m.restored.has_value());
    out.number(m.restored ? m.restored->asIsDb : 0.0);
    out.number(m.restored ? m.restored->restoredDb : 0.0);
    out.number<uint64_t>(m.restored ? m.restored->samples : 0);
    out.number<uint64_t>(m.firstSample);
    out.number<uint64_t>(m.samples);
    out.number<uint64_t>(m.allSamples);
    writeSums(m.sums, out);
    out.numbers(m.scaleSquares);
    writeSums(m.nodeSums, out);
    writeSums(m.outputSums, out);
    writeSums(m.writtenSums, out);
    out.numbers(m.floatClass);
    out.numbers(m.quantClass);
    out.numbers(m.floatMargin);
    out.numbers(m.quantMargin);
    writeSums(m.scores, out);
    writeTokens(m.tokens, out);
    out.numbers(m.readsAhead);
    writeSums(m.masks, out);
    writeSums(m.boxes, out);
    out.number<uint64_t>(m.parts.size());
    for (const auto& parts : m.parts) {
        out.numbers(parts->counts.all);
        out.numbers(parts->counts.same);
    }
    out.numbers(m.done);
    out.number<uint64_t>(m.shared.size());
    for (const auto& shared : m.shared)
        writeShared(*shared, out);
    writeImplementation(m.implementation, out);
    writeSums(m.inputs.sums, out);
    out.numbers(m.inputs.hashes);
}

std::shared_ptr<Measured> emptyMeasured(const ComparePair& pair, SampleStretch stretch, bool nodeAlone)
{
    auto m = std::make_shared<Measured>();
    m->pairs = planPairs(pair);
    m->firstSample = stretch.first;
    m->samples = stretch.samples;
    m->allSamples = stretch.all;
    m->inputs = InputStatistics::of(*pair.floatPlan, {}, stretch.samples);
    m->reserve(pairOutputs(pair).size(), nodeAlone, pair.writtenPlan != nullptr);
    return m;
}

void mergeMeasured(ByteReader& in, const Graph& floatGraph, const Graph& graph, Measured& whole)
{
    mergeProof(in, floatGraph, whole.proof);
    const bool restored = in.number<uint8_t>() != 0;
    const auto asIs = in.number<double>(), after = in.number<double>();
    const auto restoredSamples = in.number<uint64_t>();
    if (restored)
        whole.restored = RestoredOutput { asIs, after, restoredSamples };
    const auto first = in.number<uint64_t>(), samples = in.number<uint64_t>(), all = in.number<uint64_t>();
    const size_t end = whole.firstSample + whole.samples;
    if (all != whole.allSamples || first < whole.firstSample || first > end || samples > end - first)
        return in.fail();
    const Place at { size_t(first) - whole.firstSample, size_t(samples), whole.samples };
    const auto stretch = std::span(whole.done).subspan(at.first, at.part);
    if (std::ranges::any_of(stretch, [](uint8_t done) { return done != 0; }))
        return in.fail();
    const bool earliest
        = std::ranges::none_of(std::span(whole.done).first(at.first), [](uint8_t done) { return done != 0; });
    putSums(in, at, whole.sums);
    put(in.numbers<double>(), at, whole.scaleSquares, in);
    putSums(in, at, whole.nodeSums);
    putSums(in, at, whole.outputSums);
    putSums(in, at, whole.writtenSums);
    put(in.numbers<int64_t>(), at, whole.floatClass, in);
    put(in.numbers<int64_t>(), at, whole.quantClass, in);
    put(in.numbers<double>(), at, whole.floatMargin, in);
    put(in.numbers<double>(), at, whole.quantMargin, in);
    putSums(in, at, whole.scores);
    putTokens(in, at, whole.tokens);
    mergeReadsAhead(in, whole.readsAhead);
    putSums(in, at, whole.masks);
    putSums(in, at, whole.boxes);
    mergeParts(in, whole.parts);
    const auto done = in.numbers<uint8_t>();
    if (std::ranges::any_of(done, [](uint8_t d) { return d > 1; }))
        return in.fail();
    put(done, at, whole.done, in);
    if (in.number<uint64_t>() != whole.shared.size())
        return in.fail();
    for (const auto& shared : whole.shared)
        mergeShared(in, earliest, *shared);
    mergeImplementation(in, graph, whole.implementation);
    putSums(in, at, whole.inputs.sums);
    put(in.numbers<uint64_t>(), at, whole.inputs.hashes, in);
}

} // namespace qs
