// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/text_ml/text_parts.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/text_ml/ngrams.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// What the attributes of TfIdfVectorizer say. The columns of the n-grams are their ids.
struct TfIdf {
    NgramLimits limits;
    std::vector<int64_t> columns;
    std::vector<float> weights; ///< one a column, or none
    bool counts = true; ///< else: there or not
    int64_t width = 0;
    Ngrams<std::string> words;
    Ngrams<int64_t> numbers;
    bool ofWords = false;
};

/// Adds the n-grams of the pool; their lengths ascend, ngram_counts says where each length begins.
template <class Key>
Status addPool(
    const std::vector<int64_t>& begins, const std::vector<int64_t>& columns, std::span<const Key> pool, Ngrams<Key>& to)
{
    size_t next = 0;
    for (size_t k = 0; k < begins.size(); ++k) {
        const int64_t end = k + 1 < begins.size() ? begins[k + 1] : static_cast<int64_t>(pool.size());
        const auto length = static_cast<int64_t>(k) + 1;
        if (begins[k] < 0 || end < begins[k] || end > static_cast<int64_t>(pool.size())
            || (end - begins[k]) % length != 0)
            return badInput("its ngram_counts do not fit its pool");
        for (int64_t at = begins[k]; at < end; at += length) {
            if (next >= columns.size())
                return badInput("it has more n-grams than ngram_indexes");
            to.add(pool.subspan(static_cast<size_t>(at), static_cast<size_t>(length)), columns[next++]);
        }
    }
    return {};
}

template <class Key>
void countLine(const TfIdf& t, const Ngrams<Key>& ngrams, std::span<const Key> line, std::span<float> out)
{
    std::ranges::fill(out, 0.0f);
    ngrams.count(line, t.limits, [&](int64_t column) { out[static_cast<size_t>(column)] += 1; });
    for (size_t i = 0; i < out.size(); ++i) {
        if (!t.counts)
            out[i] = out[i] > 0 ? 1.0f : 0.0f;
        if (!t.weights.empty())
            out[i] *= t.weights[i];
    }
}

Status runTfIdf(const TfIdf& t, StepContext& s)
{
    const Tensor& x = s.in(0);
    if ((x.dtype() == DType::String) != t.ofWords || (!t.ofWords && !isInteger(x.dtype())))
        return badInput("the input of type " + std::string(dtypeName(x.dtype())) + " does not fit its pool");
    if (x.rank() > 2)
        return badInput("the input needs rank 1 or 2");
    Shape shape = x.rank() == 2 ? Shape { x.dim(0), t.width } : Shape { t.width };
    QS_TRY(Tensor y, allocateChecked(s, DType::Float32, shape));
    const int64_t lines = x.rank() == 2 ? x.dim(0) : 1;
    const auto length = static_cast<size_t>(x.count() / std::max<int64_t>(lines, 1));
    const std::vector<int64_t> numbers = t.ofWords ? std::vector<int64_t>() : toInts(x);
    for (int64_t i = 0; i < lines; ++i) {
        const auto out = y.fill<float>().subspan(static_cast<size_t>(i * t.width), static_cast<size_t>(t.width));
        const size_t from = static_cast<size_t>(i) * length;
        if (t.ofWords)
            countLine<std::string>(t, t.words, std::span(x.stringData()).subspan(from, length), out);
        else
            countLine<int64_t>(t, t.numbers, std::span(numbers).subspan(from, length), out);
    }
    s.setOutput(0, std::move(y));
    return {};
}

Result<LoweredNode> lowerVectorizer(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    auto t = std::make_shared<TfIdf>();
    t->limits = { a.integer("min_gram_length", 1), a.integer("max_gram_length", 1), a.integer("max_skip_count", 0) };
    t->columns = a.integers("ngram_indexes");
    const bool sound = !t->columns.empty()
        && std::ranges::all_of(t->columns, [](int64_t i) { return i >= 0 && i < INT32_MAX; }) && t->limits.shortest >= 1
        && t->limits.longest >= t->limits.shortest && t->limits.mostSkipped >= 0 && t->limits.mostSkipped < INT32_MAX;
    if (!sound)
        return badInput("its ngram_indexes or lengths are missing or out of range");
    t->width = *std::ranges::max_element(t->columns) + 1;
    const std::string mode = a.text("mode", "TF");
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
        return badInput("the mode '" + mode + "' is unknown");
    t->counts = mode != "IDF";
    if (mode != "TF")
        t->weights = a.reals("weights");
    if (!t->weights.empty() && static_cast<int64_t>(t->weights.size()) != t->width)
        return badInput("there must be one weight a column");
    const auto begins = a.integers("ngram_counts"), numbers = a.integers("pool_int64s");
    if (const auto* words = a.get<std::vector<std::string>>("pool_strings")) {
        t->ofWords = true;
        QS_CHECK(addPool<std::string>(begins, t->columns, *words, t->words));
    } else {
        QS_CHECK(addPool<int64_t>(begins, t->columns, numbers, t->numbers));
    }
    return LoweredNode { [t](StepContext& s) { return runTfIdf(*t, s); }, "text" };
}

} // namespace

void lowerTfIdf(LoweringRegistry& r) { r.add("", "TfIdfVectorizer", lowerVectorizer); }

} // namespace qs
