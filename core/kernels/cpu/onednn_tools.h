// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <dnnl.hpp>

#include <memory>
#include <mutex>
#include <unordered_map>
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

/// Argument lists of one primitive, kept between runs because making memory objects allocates. Thread-safe.
class ArgumentLists {
public:
    using List = std::unordered_map<int, dnnl::memory>;
    /// `make` builds the first list of each concurrent run; `use` sets the data handles and executes.
    template <class Make, class Use> void with(Make make, Use use) const
    {
        std::unique_ptr<List> list;
        {
            const std::lock_guard lock(m_mutex);
            if (!m_free.empty()) {
                list = std::move(m_free.back());
                m_free.pop_back();
            }
        }
        if (!list)
            list = std::make_unique<List>(make());
        use(*list);
        const std::lock_guard lock(m_mutex);
        m_free.push_back(std::move(list));
    }

private:
    mutable std::mutex m_mutex;
    mutable std::vector<std::unique_ptr<List>> m_free;
};

/// Attributes of every primitive: scratch memory comes from the caller.
dnnl::primitive_attr userScratchpad();
/// Implementations that are plain loops are slower than other ways to the same result.
bool isSlow(const char* implementation);

} // namespace qs::onednn
