// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/product/einsum.h"

#include <algorithm>

namespace qs {

namespace {

/// Step of every label in a dense tensor with these axes.
std::vector<int64_t> labelSteps(const std::vector<int>& labels, std::span<const int64_t> sizes)
{
    std::vector<int64_t> steps(sizes.size(), 0);
    int64_t step = 1;
    for (size_t d = labels.size(); d-- > 0;) {
        steps[size_t(labels[d])] += step;
        step *= sizes[size_t(labels[d])];
    }
    return steps;
}

} // namespace

template <class T>
void sumOfProducts(std::span<const LabelledOperand<T>> operands, std::span<const int64_t> sizes,
    const std::vector<int>& labels, T* out)
{
    std::vector<std::vector<int64_t>> steps;
    for (const auto& operand : operands)
        steps.push_back(labelSteps(operand.labels, sizes));
    const std::vector<int64_t> outSteps = labelSteps(labels, sizes);
    int64_t outCount = 1, points = 1;
    for (int label : labels)
        outCount *= sizes[size_t(label)];
    for (int64_t size : sizes)
        points *= size;
    std::fill_n(out, outCount, T(0));
    std::vector<int64_t> index(sizes.size(), 0);
    for (int64_t p = 0; p < points; ++p) {
        T value = 1;
        for (size_t k = 0; k < operands.size(); ++k) {
            int64_t at = 0;
            for (size_t label = 0; label < sizes.size(); ++label)
                at += index[label] * steps[k][label];
            value *= operands[k].data[at];
        }
        int64_t to = 0;
        for (size_t label = 0; label < sizes.size(); ++label)
            to += index[label] * outSteps[label];
        out[to] += value;
        for (size_t label = sizes.size(); label-- > 0;) {
            if (++index[label] < sizes[label])
                break;
            index[label] = 0;
        }
    }
}
template void sumOfProducts<double>(
    std::span<const LabelledOperand<double>>, std::span<const int64_t>, const std::vector<int>&, double*);
template void sumOfProducts<uint64_t>(
    std::span<const LabelledOperand<uint64_t>>, std::span<const int64_t>, const std::vector<int>&, uint64_t*);

} // namespace qs
