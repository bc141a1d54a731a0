// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/cpu/onednn_tools.h"

#include <omp.h>

#include <string_view>

namespace qs::onednn {

const dnnl::engine& engine()
{
    static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
}

dnnl::stream& threadStream()
{
    if (omp_get_max_threads() != 1)
        omp_set_num_threads(1);
    thread_local dnnl::stream stream(engine());
    return stream;
}

dnnl::memory PackedWeights::get(const dnnl::memory::desc& plain, const float* data, const dnnl::memory::desc& wanted)
{
    for (const dnnl::memory& memory : m_packed)
        if (memory.get_desc() == wanted)
            return memory;
    dnnl::memory source(plain, engine(), const_cast<float*>(data));
    dnnl::memory packed = source;
    if (plain != wanted) {
        packed = dnnl::memory(wanted, engine());
        dnnl::stream& stream = threadStream();
        dnnl::reorder(source, packed).execute(stream, source, packed);
        stream.wait();
    }
    m_packed.push_back(packed);
    return packed;
}

dnnl::primitive_attr userScratchpad()
{
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

bool isSlow(const char* implementation) { return std::string_view(implementation).substr(0, 3) == "ref"; }

} // namespace qs::onednn
