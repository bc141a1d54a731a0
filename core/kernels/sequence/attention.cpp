// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/attention.h"

#include "core/kernels/reduce/norm.h"
#include "core/kernels/sequence/few_queries.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace qs {

namespace {

/// One head's scores on their way from products to weights.
template <class T> struct HeadScores {
    const AttentionShape& shape;
    const AttentionData<T>& data;
    int64_t batch, head;
    T* scores; ///< queries x keys
    T* kept; ///< null: not asked for

    void keep(AttentionStage stage) const
    {
        if (kept && data.stage == stage)
            std::copy_n(scores, shape.queries * shape.keys, kept);
    }
    void cap() const
    {
        if (shape.softcap == 0)
            return;
        const T cap = T(shape.softcap);
        for (int64_t i = 0; i < shape.queries * shape.keys; ++i)
            scores[i] = cap * std::tanh(scores[i] / cap);
    }
    void bias() const
    {
        const auto& [from, strides] = data.bias;
        if (!from)
            return;
        for (int64_t q = 0; q < shape.queries; ++q) {
            T* row = scores + q * shape.keys;
            const T* added = biasRow(q);
            if (const int64_t step = strides[3]; step == 1)
                for (int64_t k = 0; k < shape.keys; ++k)
                    row[k] += added[k];
            else
                for (int64_t k = 0; k < shape.keys; ++k)
                    row[k] += added[k * step];
        }
    }
    const T* biasRow(int64_t q) const
    {
        const auto& [from, strides] = data.bias;
        return from + batch * strides[0] + head * strides[1] + q * strides[2];
    }
    /// Rows without a key: softmax made NaN of them.
    void clearEmptyRows() const
    {
        for (int64_t q = 0; data.bias.data && q < shape.queries; ++q) {
            T* row = scores + q * shape.keys;
            bool empty = shape.keys > 0 && std::isnan(row[0]);
            for (int64_t k = 0; empty && k < shape.keys; ++k)
                empty = biasRow(q)[k * data.bias.strides[3]] == -std::numeric_limits<T>::infinity();
            if (empty)
                std::fill_n(row, shape.keys, T(0));
        }
    }
    void finish() const
    {
        keep(AttentionStage::Products);
        cap();
        keep(AttentionStage::Capped);
        bias();
        keep(AttentionStage::Biased);
        softmax<T>(SoftmaxKind::Softmax, { shape.queries, shape.keys, 1 }, scores, scores);
        clearEmptyRows();
        keep(AttentionStage::Weights);
    }
};

template <class T>
HeadScores<T> headScores(const AttentionShape& s, const AttentionData<T>& d, int64_t b, int64_t h, T* scores)
{
    return { s, d, b, h, scores, d.scores ? d.scores + (b * s.heads + h) * s.queries * s.keys : nullptr };
}

int64_t keyHead(const AttentionShape& s, int64_t b, int64_t h) { return b * s.keyHeads + h / (s.heads / s.keyHeads); }

} // namespace

void attentionReference(const AttentionShape& s, const AttentionData<double>& d)
{
    std::vector<double> scores(size_t(s.queries * s.keys));
    for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t h = 0; h < s.heads; ++h) {
            const double* q = d.q + (b * s.heads + h) * s.queries * s.keySize;
            const double* k = d.k + keyHead(s, b, h) * s.keys * s.keySize;
            const double* v = d.v + keyHead(s, b, h) * s.keys * s.valueSize;
            matmulReference<double>({ s.queries, s.keySize, s.keys, false, true }, q, k, scores.data());
            for (double& score : scores)
                score *= s.scale;
            headScores(s, d, b, h, scores.data()).finish();
            double* y = d.y + (b * s.heads + h) * s.queries * s.valueSize;
            matmulReference<double>({ s.queries, s.keys, s.valueSize }, scores.data(), v, y);
        }
}

bool PreparedAttention::prepare(Part& part, FloatMatmul& products)
{
    const AttentionShape& s = part.shape;
    part.scores = products.prepare({ s.queries, s.keySize, s.keys, false, true });
    part.values = products.prepare({ s.queries, s.keys, s.valueSize });
    return part.scores && part.values;
}

void PreparedAttention::prepareParts(FloatMatmul& products)
{
    constexpr int64_t kMostParts = 4, kLeastQueries = 64;
    const AttentionShape& s = m_whole.shape;
    const int64_t count = std::min(kMostParts, s.queries / kLeastQueries), before = s.keys - s.queries;
    for (int64_t i = 0; count > 1 && before >= 0 && i < count; ++i) {
        const int64_t first = s.queries * i / count, last = s.queries * (i + 1) / count;
        Part part { first, s, nullptr, nullptr };
        part.shape.queries = last - first;
        part.shape.keys = before + last;
        if (!prepare(part, products))
            return m_parts.clear();
        m_parts.push_back(std::move(part));
    }
}

std::shared_ptr<const PreparedAttention> PreparedAttention::make(
    const AttentionShape& s, FloatMatmul& products, bool masks)
{
    auto prepared = std::make_shared<PreparedAttention>();
    prepared->m_whole.shape = s;
    constexpr int64_t kFewQueries = 4; // below: reading the keys is what takes time
    if (s.queries * s.keys * s.keySize * s.valueSize == 0)
        return nullptr;
    prepared->m_few = s.queries < kFewQueries;
    if (prepared->m_few)
        return prepared;
    if (!prepare(prepared->m_whole, products))
        return nullptr;
    if (masks)
        prepared->prepareParts(products);
    return prepared;
}

namespace {

size_t scoreBytes(const AttentionShape& s) { return (size_t(s.queries * s.keys) * sizeof(float) + 63) / 64 * 64; }

} // namespace

size_t PreparedAttention::scratchBytes() const
{
    size_t products = 0;
    const auto count = [&](const Part& part) {
        products = std::max({ products, part.scores->scratchBytes(), part.values->scratchBytes() });
    };
    if (!m_few)
        count(m_whole);
    for (const Part& part : m_parts)
        count(part);
    return scoreBytes(m_whole.shape) + products;
}

bool PreparedAttention::multiplyKeys(
    const Part& part, const float* q, const float* k, float* scores, std::byte* scratch) const noexcept
{
    const AttentionShape& s = part.shape;
    const auto scale = float(s.scale);
    if (!m_few && !part.scores->run(q, k, scores, scratch))
        return false;
    for (int64_t i = 0; m_few && i < s.queries; ++i)
        scoreKeys(q + i * s.keySize, k, s.keys, s.keySize, scale, scores + i * s.keys);
    for (int64_t i = 0; !m_few && i < s.queries * s.keys; ++i)
        scores[i] *= scale;
    return true;
}

bool PreparedAttention::multiplyValues(
    const Part& part, const float* w, const float* v, float* y, std::byte* scratch) const noexcept
{
    const AttentionShape& s = part.shape;
    for (int64_t i = 0; m_few && i < s.queries; ++i)
        mixValues(w + i * s.keys, v, s.keys, s.valueSize, y + i * s.valueSize);
    return m_few || part.values->run(w, v, y, scratch);
}

bool PreparedAttention::seesNoLaterKeys(const AttentionData<float>& d, int64_t batch, int64_t head) const
{
    const auto& [from, strides] = d.bias;
    if (!from || d.scores)
        return false;
    const float* rows = from + batch * strides[0] + head * strides[1];
    for (const Part& part : m_parts)
        for (int64_t q = part.firstQuery; q < part.firstQuery + part.shape.queries; ++q)
            for (int64_t k = part.shape.keys; k < m_whole.shape.keys; ++k)
                if (rows[q * strides[2] + k * strides[3]] != -std::numeric_limits<float>::infinity())
                    return false;
    return true;
}

bool PreparedAttention::laterKeysAreFinite(const AttentionData<float>& d, int64_t batch, int64_t head) const
{
    const AttentionShape& s = m_whole.shape;
    const int64_t first = m_parts.front().shape.keys, later = s.keys - first,
                  at = keyHead(s, batch, head) * s.keys + first;
    const auto areFinite = [](const float* x, int64_t n) { // 0 times what is not is no 0
        int32_t largest = 0;
        for (int64_t i = 0; i < n; ++i)
            largest = std::max(largest, std::bit_cast<int32_t>(x[i]) & INT32_MAX);
        return std::isfinite(std::bit_cast<float>(largest));
    };
    return areFinite(d.k + at * s.keySize, later * s.keySize) && areFinite(d.v + at * s.valueSize, later * s.valueSize);
}

bool PreparedAttention::runPart(
    const Part& part, const AttentionData<float>& d, int64_t b, int64_t h, std::byte* scratch) const noexcept
{
    const AttentionShape &s = m_whole.shape, &own = part.shape;
    auto* scores = reinterpret_cast<float*>(scratch);
    std::byte* rest = scratch + scoreBytes(s);
    const int64_t query = (b * s.heads + h) * s.queries + part.firstQuery;
    AttentionData<float> data = d;
    data.bias.data = d.bias.data ? d.bias.data + part.firstQuery * d.bias.strides[2] : nullptr;
    if (!multiplyKeys(part, d.q + query * s.keySize, d.k + keyHead(s, b, h) * s.keys * s.keySize, scores, rest))
        return false;
    headScores(own, data, b, h, scores).finish();
    const float* v = d.v + keyHead(s, b, h) * s.keys * s.valueSize;
    return multiplyValues(part, scores, v, d.y + query * s.valueSize, rest);
}

bool PreparedAttention::run(const AttentionData<float>& d, std::byte* scratch) const noexcept
{
    const AttentionShape& s = m_whole.shape;
    bool masked = false;
    for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t h = 0; h < s.heads; ++h) {
            if (const bool another = h == 0 || d.bias.strides[1] != 0; another)
                masked = !m_parts.empty() && seesNoLaterKeys(d, b, h);
            const bool inParts = masked && laterKeysAreFinite(d, b, h);
            const std::span<const Part> parts = inParts ? std::span(m_parts) : std::span(&m_whole, 1);
            for (const Part& part : parts)
                if (!runPart(part, d, b, h, scratch))
                    return false;
        }
    return true;
}

} // namespace qs
