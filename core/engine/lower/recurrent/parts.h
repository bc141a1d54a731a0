// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/step/lower_context.h"
#include "core/kernels/sequence/recurrent.h"

/// What RNN, GRU, LSTM and their quantized forms share.
namespace qs {

/// Attributes of a recurrent node: one cell a direction.
struct RecurrentNode {
    CellKind kind = CellKind::Rnn;
    std::vector<RecurrentCell> cells;
    std::vector<bool> reversed;
    int64_t hidden = 0; ///< 0: not said
    bool batchFirst = false; ///< layout 1

    size_t directions() const { return cells.size(); }
};
Result<RecurrentNode> recurrentNode(const Node& node, CellKind kind);

/// Sizes of one run, checked against every input.
struct RecurrentSizes {
    int64_t length = 0, batch = 0, input = 0, hidden = 0;
};

/// Inputs of one run as work type W (float or double), steps first; outputs are collected the same way and put back
/// into the node's order by finish().
template <class W> class RecurrentData {
public:
    /// X is input 0, then W, R, B, sequence_lens, initial_h, initial_c, P; the weights are left to the caller.
    static Result<RecurrentData> load(const RecurrentNode& node, const StepContext& c, RecurrentSizes sizes);
    RecurrentRun<W> direction(size_t d);
    const RecurrentSizes& sizes() const { return m_sizes; }
    void finish(const RecurrentNode& node, StepContext& c);

private:
    RecurrentSizes m_sizes;
    std::vector<bool> m_reversed;
    DType m_type = DType::Undefined;
    int64_t m_gates = 0;
    Tensor m_x, m_bias, m_h0, m_c0, m_peepholes;
    std::vector<int64_t> m_lengths;
    Tensor m_y, m_lastH, m_lastC;
};
extern template class RecurrentData<float>;
extern template class RecurrentData<double>;

/// Elements with their axes in another order: output axis i is input axis order[i].
Tensor permuted(const StepContext& c, const Tensor& t, const std::vector<size_t>& order);

/// Sizes from X, and from what the weights' shapes say; issues name what does not fit.
Result<RecurrentSizes> recurrentSizes(
    const RecurrentNode& node, const Tensor& x, int64_t weightInput, int64_t hidden, int64_t directions);

/// Runs all directions with the fast cells; `products` gives the matrix products of one direction.
Status runRecurrentFast(const RecurrentNode& node, StepContext& c, RecurrentSizes sizes,
    const std::function<RecurrentProducts(size_t direction, const RecurrentRun<float>& run)>& products);

Result<LoweredNode> lowerDynamicQuantizeLstm(const LowerContext& context);

} // namespace qs
