// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/prepared_conv.h"

#include "core/engine/lower/common/element_types.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace qs {

namespace {

/// For outputs whose parts are not made one after another.
void finishInPieces(const StepContext& c, Tensor& y, const PieceFn& take)
{
    constexpr size_t kPiece = 16384; // elements
    float* out = y.fill<float>().data();
    const auto count = static_cast<size_t>(y.count());
    c.parallel((count + kPiece - 1) / kPiece,
        [&](size_t i, size_t worker) { take(out, i * kPiece, std::min(count, (i + 1) * kPiece), worker); });
}

/// Pieces of some channels read the same, so one worker makes all at once; several get as many as before where fewer
/// cannot be of one size, and some more than one each, since they do not all go at the same speed.
size_t runsFor(size_t workers, const PreparedConv& conv)
{
    const size_t pieces = conv.pieces().size();
    if (conv.contiguous() || pieces < 2)
        return pieces;
    const size_t runs = workers == 1 ? 1 : std::bit_ceil(2 * workers);
    return pieces % runs == 0 ? runs : pieces;
}

} // namespace

Status runPrepared(
    const StepContext& c, const PreparedConv& conv, const float* x, Tensor& y, const EpilogueFn& epilogue)
{
    const Epilogue then = epilogue ? epilogue(y) : Epilogue();
    const bool inSums = then.sums && conv.takesEpilogue();
    const SumEpilogue sums = inSums ? *then.sums : SumEpilogue();
    const PieceFn& take = inSums ? then.behindSums : then.take;
    if (inSums && then.home.valid())
        y = then.home;
    const size_t scratchBytes = (conv.scratchBytes() + 63) / 64 * 64;
    Tensor scratch = c.allocate(DType::UInt8, { static_cast<int64_t>(scratchBytes * c.workers()) });
    float* out = y.fill<float>().data();
    std::byte* memory = writable(scratch);
    std::atomic<bool> failed = false;
    const auto pieces = conv.pieces();
    const size_t runs = runsFor(c.workers(), conv);
    c.parallel(runs, [&](size_t i, size_t worker) {
        const size_t first = pieces.size() * i / runs, last = pieces.size() * (i + 1) / runs;
        if (!conv.runPieces(first, last, x, out, memory + worker * scratchBytes, sums))
            failed = true;
        else if (take && conv.contiguous())
            take(out, pieces[i].begin, pieces[i].end, worker);
    });
    if (failed)
        return internalError("the convolution failed: out of memory");
    if (take && !conv.contiguous())
        finishInPieces(c, y, take);
    return {};
}

} // namespace qs
