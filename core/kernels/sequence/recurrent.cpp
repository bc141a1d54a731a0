// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/recurrent.h"

#include <algorithm>

namespace qs {

namespace {

void apply(const CellFunction& f, float* x, size_t n)
{
    const auto before = float(f.before), after = float(f.after), plus = float(f.plus);
    if (before != 1.0f)
        for (size_t i = 0; i < n; ++i)
            x[i] *= before;
    if (f.op)
        unaryFast(*f.op, f.params, x, x, n);
    if (after != 1.0f || plus != 0.0f)
        for (size_t i = 0; i < n; ++i)
            x[i] = after * x[i] + plus;
}

void addProduct(const float* a, const float* b, float* sum, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        sum[i] += a[i] * b[i];
}

/// Where things are in the scratch memory.
struct Places {
    float* fromInput; ///< length*batch x gates*hidden, biases added
    float* fromState; ///< batch x gates*hidden
    float* h; ///< batch x hidden
    float* c; ///< LSTM
    float* gates; ///< one sequence: gates*hidden
    float* gated; ///< GRU: reset gate x state, batch x hidden
    float* third; ///< GRU: product of `gated`
};

class FastRun {
public:
    FastRun(const RecurrentCell& cell, const RecurrentRun<float>& run, float* scratch)
        : m_cell(cell)
        , m_run(run)
        , m_hidden(size_t(run.hidden))
        , m_width(size_t(gateCount(cell.kind)) * m_hidden)
        , m_states(size_t(run.batch) * m_hidden)
    {
        const auto take = [&](size_t n) {
            float* at = scratch;
            scratch += n;
            return at;
        };
        m = { take(size_t(run.length * run.batch) * m_width), take(size_t(run.batch) * m_width), take(m_states),
            take(m_states), take(m_width), take(m_states), take(m_states) };
    }
    bool go(const RecurrentProducts& products, const std::function<bool()>& stop);

private:
    void begin();
    void end();
    bool advance(int64_t step, const RecurrentProducts& products);
    void clip(float* x, size_t n) const;
    void gates(CellFunction f, float* x, size_t n) const
    {
        clip(x, n);
        apply(f, x, n);
    }
    int64_t lengthOf(int64_t b) const { return m_run.lengths ? m_run.lengths[b] : m_run.length; }
    int64_t timeOf(int64_t b, int64_t step) const { return m_run.reverse ? lengthOf(b) - 1 - step : step; }
    const float* inputOf(int64_t b, int64_t step) const
    {
        return m.fromInput + size_t(timeOf(b, step) * m_run.batch + b) * m_width;
    }
    void sum(int64_t b, int64_t step, size_t n);
    void rnn(int64_t b, int64_t step);
    void lstm(int64_t b, int64_t step);
    void gruGates(int64_t b, int64_t step);
    void gru(int64_t b, int64_t step);

    const RecurrentCell& m_cell;
    const RecurrentRun<float>& m_run;
    size_t m_hidden, m_width, m_states;
    Places m;
};

void FastRun::clip(float* x, size_t n) const
{
    if (m_cell.clip <= 0)
        return;
    const auto bound = float(m_cell.clip);
    for (size_t i = 0; i < n; ++i)
        x[i] = std::clamp(x[i], -bound, bound);
}

/// gates = what came from the input + what comes from the state.
void FastRun::sum(int64_t b, int64_t step, size_t n)
{
    const float* in = inputOf(b, step);
    const float* state = m.fromState + size_t(b) * m_width;
    for (size_t i = 0; i < n; ++i)
        m.gates[i] = in[i] + state[i];
}

void FastRun::rnn(int64_t b, int64_t step)
{
    sum(b, step, m_hidden);
    gates(m_cell.functions[0], m.gates, m_hidden);
    std::copy_n(m.gates, m_hidden, m.h + size_t(b) * m_hidden);
}

void FastRun::lstm(int64_t b, int64_t step)
{
    const size_t n = m_hidden;
    float* h = m.h + size_t(b) * n;
    float* c = m.c + size_t(b) * n;
    sum(b, step, m_width);
    float *in = m.gates, *out = in + n, *forget = out + n, *candidate = forget + n;
    const CellFunction& f = m_cell.functions[0];
    if (const float* p = m_run.peepholes) {
        addProduct(p, c, in, n);
        addProduct(p + 2 * n, c, forget, n);
        gates(f, in, n);
        gates(f, forget, n);
    } else {
        gates(f, in, 3 * n);
    }
    gates(m_cell.functions[1], candidate, n);
    if (m_cell.coupled)
        for (size_t i = 0; i < n; ++i)
            forget[i] = 1 - in[i];
    for (size_t i = 0; i < n; ++i)
        c[i] = forget[i] * c[i] + in[i] * candidate[i];
    if (const float* p = m_run.peepholes) {
        addProduct(p + n, c, out, n);
        gates(f, out, n);
    }
    std::copy_n(c, n, h);
    apply(m_cell.functions[2], h, n);
    for (size_t i = 0; i < n; ++i)
        h[i] *= out[i];
}

/// z into the state sums' place, r in front of the product of the third gate.
void FastRun::gruGates(int64_t b, int64_t step)
{
    const size_t n = m_hidden;
    const bool wide = m_cell.linearBeforeReset; // the state's product has all gates
    const float* in = inputOf(b, step);
    float* state = m.fromState + size_t(b) * (wide ? m_width : 2 * n);
    for (size_t i = 0; i < 2 * n; ++i)
        state[i] += in[i];
    gates(m_cell.functions[0], state, 2 * n);
    const float* h = m.h + size_t(b) * n;
    for (size_t i = 0; i < n; ++i)
        m.gated[size_t(b) * n + i] = state[n + i] * h[i];
}

void FastRun::gru(int64_t b, int64_t step)
{
    const size_t n = m_hidden;
    const float* in = inputOf(b, step) + 2 * n;
    const bool wide = m_cell.linearBeforeReset;
    const float* z = m.fromState + size_t(b) * (wide ? m_width : 2 * n);
    float* candidate = m.gates;
    if (wide) {
        const float* bias = m_run.bias ? m_run.bias + 5 * n : nullptr;
        for (size_t i = 0; i < n; ++i)
            candidate[i] = in[i] + z[n + i] * (z[2 * n + i] + (bias ? bias[i] : 0));
    } else {
        for (size_t i = 0; i < n; ++i)
            candidate[i] = in[i] + m.third[size_t(b) * n + i];
    }
    gates(m_cell.functions[1], candidate, n);
    float* h = m.h + size_t(b) * n;
    for (size_t i = 0; i < n; ++i)
        h[i] = (1 - z[i]) * candidate[i] + z[i] * h[i];
}

void FastRun::begin()
{
    const auto load = [&](const float* from, float* to) {
        from ? std::copy_n(from, m_states, to) : std::fill_n(to, m_states, 0.0f);
    };
    load(m_run.h0, m.h);
    load(m_run.c0, m.c);
    if (m_run.bias) {
        std::copy_n(m_run.bias, m_width, m.gates);
        // The state's bias of a GRU that resets after the product belongs to that product.
        const bool late = m_cell.kind == CellKind::Gru && m_cell.linearBeforeReset;
        for (size_t i = 0; i < (late ? 2 * m_hidden : m_width); ++i)
            m.gates[i] += m_run.bias[m_width + i];
        for (size_t row = 0; row < size_t(m_run.length * m_run.batch); ++row)
            for (size_t i = 0; i < m_width; ++i)
                m.fromInput[row * m_width + i] += m.gates[i];
    }
    if (m_run.y && m_run.lengths)
        for (int64_t t = 0; t < m_run.length; ++t)
            std::fill_n(m_run.y + t * m_run.yStep, m_states, 0.0f);
}

bool FastRun::advance(int64_t step, const RecurrentProducts& products)
{
    if (!products.state(m.h, m.fromState))
        return false;
    const auto each = [&](void (FastRun::*fn)(int64_t, int64_t)) {
        for (int64_t b = 0; b < m_run.batch; ++b)
            if (step < lengthOf(b))
                (this->*fn)(b, step);
    };
    if (m_cell.kind == CellKind::Gru) {
        each(&FastRun::gruGates);
        if (!m_cell.linearBeforeReset && !products.third(m.gated, m.third))
            return false;
    }
    each(m_cell.kind == CellKind::Rnn ? &FastRun::rnn : m_cell.kind == CellKind::Lstm ? &FastRun::lstm : &FastRun::gru);
    if (m_run.y)
        for (int64_t b = 0; b < m_run.batch; ++b)
            if (step < lengthOf(b))
                std::copy_n(
                    m.h + size_t(b) * m_hidden, m_hidden, m_run.y + timeOf(b, step) * m_run.yStep + b * m_run.hidden);
    return true;
}

void FastRun::end()
{
    if (m_run.lastH)
        std::copy_n(m.h, m_states, m_run.lastH);
    if (m_run.lastC)
        std::copy_n(m.c, m_states, m_run.lastC);
}

bool FastRun::go(const RecurrentProducts& products, const std::function<bool()>& stop)
{
    if (m_run.length > 0 && m_run.batch > 0 && !products.input(m_run.x, m.fromInput))
        return false;
    begin();
    int64_t longest = m_run.length;
    if (m_run.lengths && m_run.batch > 0)
        longest = *std::max_element(m_run.lengths, m_run.lengths + m_run.batch);
    for (int64_t step = 0; step < longest && m_run.batch > 0; ++step)
        if ((stop && stop()) || !advance(step, products))
            return false;
    end();
    return true;
}

} // namespace

size_t recurrentScratch(CellKind kind, const RecurrentRun<float>& run)
{
    const size_t width = size_t(gateCount(kind) * run.hidden), states = size_t(run.batch * run.hidden);
    return size_t(run.length * run.batch) * width + size_t(run.batch) * width + 4 * states + width;
}

bool recurrentFast(const RecurrentCell& cell, const RecurrentRun<float>& run, const RecurrentProducts& products,
    float* scratch, const std::function<bool()>& stop)
{
    return FastRun(cell, run, scratch).go(products, stop);
}

} // namespace qs
