// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <memory>

namespace qs {

/// Recycles tensor storage of one worker: after the first sample no tensor-sized allocation is left. Tensors may
/// outlive the pool and may be released on any thread. Throws TensorTooLarge where memory or the limit ends.
class BufferPool {
public:
    enum class Pages {
        Usual,
        Large, ///< where the system has such: for what is written once and kept, which costs a fault a page
    };
    explicit BufferPool(uint64_t limitBytes = UINT64_MAX, Pages pages = Pages::Usual);
    Tensor allocate(DType type, Shape shape, Layout layout = Layout::Plain);
    /// The same elements in the asked layout (no copy when it already is).
    Tensor toLayout(const Tensor& t, Layout layout);
    /// Largest sum of bytes in use at one time.
    size_t peakBytes() const;

private:
    struct State;
    std::shared_ptr<State> m_state;
};

} // namespace qs
