// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <dnnl.hpp>

#include <mutex>
#include <vector>

/// What our oneDNN kernels share; included by .cpp files of this folder only.
namespace qs::onednn {

const dnnl::engine& engine();
/// Stream of the calling thread. Also limits oneDNN's threads to one on this thread: blocking, and with it the last
/// bits of results, would otherwise depend on the number of cores. Call before making or running a primitive.
dnnl::stream& threadStream();

/// Weights in the layouts that primitives asked for, each packed once. Not locked.
class PackedWeights {
public:
    /// `data` lies as `plain` says; the result is valid as long as this object.
    dnnl::memory get(const dnnl::memory::desc& plain, const float* data, const dnnl::memory::desc& wanted);

private:
    std::vector<dnnl::memory> m_packed;
};

/// Attributes of every primitive: scratch memory comes from the caller.
dnnl::primitive_attr userScratchpad();
/// Implementations that are plain loops are slower than other ways to the same result.
bool isSlow(const char* implementation);

} // namespace qs::onednn
