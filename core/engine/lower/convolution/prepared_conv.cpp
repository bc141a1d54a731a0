// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/convolution/prepared_conv.h"

#include "core/engine/lower/common/element_types.h"

#include <algorithm>
#include <atomic>

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

} // namespace

Status runPrepared(const StepContext& c, const PreparedConv& conv, const float* x, Tensor& y, const FinishFn& finish)
{
    const Finish then = finish ? finish(y) : Finish();
    const bool tailed = then.tail && conv.takesTail();
    const SumTail tail = tailed ? *then.tail : SumTail();
    const PieceFn& take = tailed ? then.behindTail : then.take;
    if (tailed && then.home.valid())
        y = then.home;
    const size_t scratchBytes = (conv.scratchBytes() + 63) / 64 * 64;
    Tensor scratch = c.allocate(DType::UInt8, { static_cast<int64_t>(scratchBytes * c.workers()) });
    float* out = y.fill<float>().data();
    std::byte* memory = writable(scratch);
    std::atomic<bool> failed = false;
    const auto pieces = conv.pieces();
    c.parallel(pieces.size(), [&](size_t i, size_t worker) {
        if (!conv.run(i, x, out, memory + worker * scratchBytes, tail))
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
