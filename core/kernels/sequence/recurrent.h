// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/elementwise/unary.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

namespace qs {

/// Recurrent cells by the formulas of ONNX's RNN, GRU and LSTM. Gates lie in ONNX's order: RNN i; GRU z r h;
/// LSTM i o f c (peepholes i o f).
enum class CellKind { Rnn, Gru, Lstm };
constexpr int64_t gateCount(CellKind kind) { return kind == CellKind::Rnn ? 1 : kind == CellKind::Gru ? 3 : 4; }

/// y = after * op(before * x) + plus; without an op the identity.
struct CellFunction {
    std::optional<UnaryOp> op;
    UnaryParams params = {};
    double before = 1, after = 1, plus = 0;
};

struct RecurrentCell {
    CellKind kind = CellKind::Rnn;
    std::array<CellFunction, 3> functions; ///< f, g, h
    double clip = 0; ///< bound of what goes into the gates' functions; 0 = none
    bool coupled = false; ///< LSTM: the forget gate is 1 - the input gate
    bool linearBeforeReset = false; ///< GRU
};

/// Sizes and data of one direction over a batch of sequences. Missing pointers may be null: a state of zeros, no bias.
template <class T> struct RecurrentRun {
    int64_t length = 0, batch = 0, input = 0, hidden = 0;
    const T* x = nullptr; ///< length x batch x input
    const T* bias = nullptr; ///< gates x hidden of the input, then of the state
    const T* peepholes = nullptr; ///< 3 x hidden
    const T* h0 = nullptr; ///< batch x hidden
    const T* c0 = nullptr;
    const int64_t* lengths = nullptr; ///< of each sequence, at most `length`
    bool reverse = false;
    T* y = nullptr; ///< step t, sequence b at t * yStep + b * hidden; zero after a sequence's end; may be null
    int64_t yStep = 0;
    T* lastH = nullptr; ///< batch x hidden
    T* lastC = nullptr; ///< LSTM
};

/// w: gates*hidden x input, r: gates*hidden x hidden.
void recurrentReference(const RecurrentCell& cell, const RecurrentRun<double>& run, const double* w, const double* r);

/// The matrix products of a cell, each with weights that it knows itself; false when memory ran out.
struct RecurrentProducts {
    /// length*batch x input -> length*batch x gates*hidden, for all steps at once.
    std::function<bool(const float* x, float* sums)> input;
    /// batch x hidden -> batch x gates*hidden; of a GRU without linearBeforeReset only the first two gates (2*hidden).
    std::function<bool(const float* h, float* sums)> state;
    /// That GRU's third gate: batch x hidden -> batch x hidden.
    std::function<bool(const float* h, float* sums)> third = {};
};
/// Floats of scratch memory that a run needs.
size_t recurrentScratch(CellKind kind, const RecurrentRun<float>& run);
/// False when a product failed or `stop` (asked before each step) said so.
bool recurrentFast(const RecurrentCell& cell, const RecurrentRun<float>& run, const RecurrentProducts& products,
    float* scratch, const std::function<bool()>& stop = {});

} // namespace qs
