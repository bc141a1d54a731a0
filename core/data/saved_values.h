// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// Values that another program computed and saved, by sample: a .npz or .npy with a leading axis of samples (as
/// `run --out` writes them), or folders of ONNX test data with output_K.pb.
class SavedValues {
public:
    /// Issue: it holds fewer samples than asked for.
    static Result<SavedValues> open(const std::string& path, size_t samples);

    struct Value {
        std::string name; ///< "" where the file says none
        size_t position = 0; ///< number of the output, where there is no name
    };
    const std::vector<Value>& values() const { return m_values; }
    const std::string& path() const { return m_path; }
    /// What the samples from `first` on hold, `count` of them; safe from several threads.
    Result<Tensor> read(size_t value, size_t first, size_t count) const { return m_source->read(value, first, count); }

    /// Where the numbers come from.
    class Source {
    public:
        virtual ~Source() = default;
        virtual Result<Tensor> read(size_t value, size_t first, size_t count) const = 0;
    };

private:
    std::string m_path;
    std::vector<Value> m_values;
    std::shared_ptr<const Source> m_source;
};

} // namespace qs
