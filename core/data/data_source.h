// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/data/class_names.h"
#include "core/tensor/tensor.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// One model input as data must fit it.
struct InputSpec {
    std::string name;
    DType dtype = DType::Float32;
    std::optional<Dims> dims; ///< nullopt = any rank
};

/// Where samples come from and how they are read (the `--data` family of options).
struct DataRequest {
    std::string spec; ///< FILE.npz, FILE.npy, folder, random:N[:SEED]
    std::string preprocess; ///< path of the JSON for image folders, empty = none
    std::map<std::string, Shape> shapes; ///< --shape NAME=2x3x4, for dynamic sizes of random data
    std::optional<size_t> limit; ///< first N samples
    std::optional<uint64_t> seed; ///< --seed: for random data without a seed of its own
    uint64_t mostBytes = 0; ///< what random data for one run of the model may take; 0: 80 % of RAM
    bool operator==(const DataRequest&) const = default;
};

/// What stands in the data for inputs whose values come from the sample before: what they are before the first one.
using InitialStates = std::map<std::string, Tensor>;

/// Inputs of one run of the model. A sample is one item; with a fixed batch of B one feed carries B samples.
struct Feed {
    std::vector<Tensor> inputs; ///< one a model input, complete with batch axis
    size_t firstSample = 0;
    size_t samples = 1;
    /// Parts, one a sample, that a tensor of so many elements falls into; 1 where it cannot be split.
    size_t slicesOf(size_t elements) const { return samples > 1 && elements % samples == 0 ? samples : 1; }
};

/// Nothing where the sample has no class.
inline std::optional<int64_t> labelOf(const std::vector<int64_t>& labels, size_t sample)
{
    return sample < labels.size() && labels[sample] >= 0 ? std::optional(labels[sample]) : std::nullopt;
}

/// Samples read one by one; nothing is kept in memory that grows with their number (labels and offsets aside).
/// Safe to read from several threads.
class DataSource {
public:
    DataSource();
    virtual ~DataSource() = default;
    /// Differs from that of every other source that was ever opened.
    uint64_t identity() const { return m_identity; }
    size_t samples() const { return m_samples; }
    size_t feeds() const { return m_feeds; }
    virtual Result<Feed> feed(size_t index) const = 0;
    /// One class a sample, or empty. A negative one says that the sample has none.
    const std::vector<int64_t>& labels() const { return m_labels; }
    std::optional<int64_t> label(size_t sample) const { return labelOf(m_labels, sample); }
    /// What the classes are called, where the data say it; else empty.
    const ClassNames& classNames() const { return m_classNames; }
    /// By input; those that the data do not give are left out.
    const InitialStates& initialStates() const { return m_initialStates; }
    /// A name for people: file name of the picture, "sample 3".
    virtual std::string sampleName(size_t sample) const { return "sample " + std::to_string(sample); }
    /// Oddities worth a line on stderr (unused keys ...).
    const std::vector<std::string>& warnings() const { return m_warnings; }
    void warn(std::string warning) { m_warnings.push_back(std::move(warning)); }

protected:
    size_t m_samples = 0;
    size_t m_feeds = 0;
    std::vector<int64_t> m_labels;
    ClassNames m_classNames;
    InitialStates m_initialStates;
    std::vector<std::string> m_warnings;

private:
    uint64_t m_identity;
};

} // namespace qs
