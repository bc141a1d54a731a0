// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/atomic_file.h"
#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Writes one array a name, each with a leading sample axis, sample by sample in any order and from several threads:
/// samples go to an unnamed temporary file and become the npz at the end. int4/int2 become int8, uint4/uint2 uint8,
/// bfloat16 and float8 float32, strings as many UTF-32 characters as the longest one has.
class NpzWriter {
public:
    static Result<NpzWriter> create(const std::string& path, std::vector<std::string> names, size_t samples);
    NpzWriter(NpzWriter&&) noexcept;
    ~NpzWriter();
    /// All arrays of one sample, in the order of the names. An Issue naming the tensor when its shape or type differs
    /// from the first sample's.
    Status add(size_t sample, const std::vector<Tensor>& tensors);
    Status finish();

private:
    struct State;
    explicit NpzWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace qs
