// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ops/window.h"
#include "core/quant/correct/layers.h"

namespace qs {

/// Samples of what a Conv, Gemm or MatMul multiplies its weight with: rows of as many values as all groups read for one
/// position of the output, some positions of each run.
class LayerPatches {
public:
    /// `node` is the layer's in a plan's graph and must outlive this.
    LayerPatches(const LinearLayer& layer, const Node& node, Shape weight, size_t feeds, size_t rowsPerFeed);
    static uint64_t bytes(const WeightLayout& layout, size_t rows);
    /// What the layer reads in that run; several runs may be taken at the same time. Which positions are kept depends
    /// on `seed` and `feed` alone.
    Status take(const Tensor& input, size_t feed, uint64_t seed);
    /// The group's part of all rows, in the order of runs: rows x rowSize.
    std::vector<float> rows(int64_t group) const;
    void clear() { m_rows.clear(); }

private:
    void takeWindow(const float* image, std::span<const WindowAxis> axes, int64_t position, std::span<float> row) const;

    WeightLayout m_layout;
    const Node* m_node;
    bool m_conv;
    Shape m_weight;
    size_t m_rowsPerFeed;
    std::vector<std::vector<float>> m_rows; ///< by feed
};

} // namespace qs
