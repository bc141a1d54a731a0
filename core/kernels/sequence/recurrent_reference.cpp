// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/recurrent.h"

#include <algorithm>
#include <vector>

namespace qs {

namespace {

double apply(const CellFunction& f, double x)
{
    x *= f.before;
    if (f.op)
        unaryReference<double>(*f.op, f.params, &x, &x, 1);
    return f.after * x + f.plus;
}

/// One sequence at one step.
struct Step {
    const RecurrentCell& cell;
    const RecurrentRun<double>& run;
    const double* w;
    const double* r;
    const double* x;
    std::vector<double>& h;
    std::vector<double>& c;

    double clipped(double v) const { return cell.clip > 0 ? std::clamp(v, -cell.clip, cell.clip) : v; }
    int64_t row(int64_t gate, int64_t j) const { return gate * run.hidden + j; }
    double fromInput(int64_t gate, int64_t j) const
    {
        double sum = run.bias ? run.bias[row(gate, j)] : 0;
        for (int64_t k = 0; k < run.input; ++k)
            sum += w[row(gate, j) * run.input + k] * x[k];
        return sum;
    }
    double stateBias(int64_t gate, int64_t j) const
    {
        return run.bias ? run.bias[gateCount(cell.kind) * run.hidden + row(gate, j)] : 0;
    }
    double fromState(int64_t gate, int64_t j, const std::vector<double>& state) const
    {
        double sum = stateBias(gate, j);
        for (int64_t k = 0; k < run.hidden; ++k)
            sum += r[row(gate, j) * run.hidden + k] * state[size_t(k)];
        return sum;
    }
    double peephole(int64_t gate, int64_t j, double value) const
    {
        return run.peepholes ? run.peepholes[row(gate, j)] * value : 0;
    }
    void rnn();
    void gru();
    void lstm();
};

void Step::rnn()
{
    std::vector<double> next(h.size());
    for (int64_t j = 0; j < run.hidden; ++j)
        next[size_t(j)] = apply(cell.functions[0], clipped(fromInput(0, j) + fromState(0, j, h)));
    h = next;
}

void Step::gru()
{
    const size_t n = h.size();
    std::vector<double> z(n), reset(n), gated(n), next(n);
    for (size_t j = 0; j < n; ++j) {
        const auto i = int64_t(j);
        z[j] = apply(cell.functions[0], clipped(fromInput(0, i) + fromState(0, i, h)));
        reset[j] = apply(cell.functions[0], clipped(fromInput(1, i) + fromState(1, i, h)));
        gated[j] = reset[j] * h[j];
    }
    for (size_t j = 0; j < n; ++j) {
        const auto i = int64_t(j);
        const double recurrent = cell.linearBeforeReset ? reset[j] * fromState(2, i, h) : fromState(2, i, gated);
        const double candidate = apply(cell.functions[1], clipped(fromInput(2, i) + recurrent));
        next[j] = (1 - z[j]) * candidate + z[j] * h[j];
    }
    h = next;
}

void Step::lstm()
{
    std::vector<double> next(h.size());
    for (size_t j = 0; j < h.size(); ++j) {
        const auto i = int64_t(j);
        const auto gate = [&](int64_t g) { return fromInput(g, i) + fromState(g, i, h); };
        const double in = apply(cell.functions[0], clipped(gate(0) + peephole(0, i, c[j])));
        const double forget = cell.coupled ? 1 - in : apply(cell.functions[0], clipped(gate(2) + peephole(2, i, c[j])));
        const double candidate = apply(cell.functions[1], clipped(gate(3)));
        c[j] = forget * c[j] + in * candidate;
        const double out = apply(cell.functions[0], clipped(gate(1) + peephole(1, i, c[j])));
        next[j] = out * apply(cell.functions[2], c[j]);
    }
    h = next;
}

} // namespace

void recurrentReference(const RecurrentCell& cell, const RecurrentRun<double>& run, const double* w, const double* r)
{
    const auto hidden = size_t(run.hidden);
    for (int64_t b = 0; b < run.batch; ++b) {
        std::vector<double> h(hidden, 0), c(hidden, 0);
        if (run.h0)
            h.assign(run.h0 + b * run.hidden, run.h0 + (b + 1) * run.hidden);
        if (run.c0)
            c.assign(run.c0 + b * run.hidden, run.c0 + (b + 1) * run.hidden);
        const int64_t length = run.lengths ? run.lengths[b] : run.length;
        for (int64_t s = 0; s < run.length; ++s) {
            const int64_t t = run.reverse && s < length ? length - 1 - s : s;
            if (s < length) {
                Step step { cell, run, w, r, run.x + (t * run.batch + b) * run.input, h, c };
                cell.kind == CellKind::Rnn ? step.rnn() : cell.kind == CellKind::Gru ? step.gru() : step.lstm();
            }
            if (run.y)
                for (size_t j = 0; j < hidden; ++j)
                    run.y[t * run.yStep + b * run.hidden + int64_t(j)] = s < length ? h[j] : 0;
        }
        if (run.lastH)
            std::ranges::copy(h, run.lastH + b * run.hidden);
        if (run.lastC)
            std::ranges::copy(c, run.lastC + b * run.hidden);
    }
}

} // namespace qs
