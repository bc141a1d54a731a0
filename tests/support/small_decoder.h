// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/small_model.h"

#include <random>
#include <string>
#include <vector>

/// A language model of a few words, and prompts for it.
namespace qs::test {

constexpr int64_t kWords = 9, kWidth = 4, kMostPlaces = 40;
constexpr int64_t kDecoderBatch = 2; ///< of those with a fixed one
constexpr size_t kPrompts = 6, kGiven = 7; ///< tokens of each

/// How a decoder is made.
struct DecoderForm {
    bool cached = true, places = true, mask = true, fixedBatch = false;
    const char* past = "past_key_values.0.key";
    const char* present = "present.0.key";
    const char* more = ""; ///< another input, a whole number
};

/// Weights of one of the two models: the second has those of the first, a little disturbed.
struct DecoderWeights {
    explicit DecoderWeights(bool quantized)
    {
        std::mt19937 random(3);
        std::normal_distribution<float> normal;
        const auto draw = [&](size_t n) {
            std::vector<float> values(n);
            for (float& v : values)
                v = normal(random);
            return values;
        };
        words = draw(size_t(kWords * kWidth));
        places = draw(size_t(kMostPlaces * kWidth));
        scores = draw(size_t(kWidth * kWords));
        for (float& v : scores)
            v += quantized ? 0.15f * normal(random) : 0;
    }
    std::vector<float> words, places, scores;
};

/// Scores of the next word from the last word, its place, and the mean of all words so far.
inline Prepared smallDecoder(bool quantized, const DecoderForm& form)
{
    const DecoderWeights w(quantized);
    const int64_t batch = form.fixedBatch ? kDecoderBatch : -1;
    SmallModel m("decoder");
    m.input("input_ids", { batch, -1 }, DType::Int64);
    if (form.mask)
        m.input("attention_mask", { batch, -1 }, DType::Int32);
    if (form.places)
        m.input("position_ids", { batch, -1 }, DType::Int64);
    if (form.cached)
        m.input(form.past, { batch, -1, kWidth });
    if (*form.more)
        m.input(form.more, { 1 }, DType::Int64);
    m.constant("words", Tensor::of<float>({ kWords, kWidth }, w.words));
    m.constant("places", Tensor::of<float>({ kMostPlaces, kWidth }, w.places));
    m.constant("scores", Tensor::of<float>({ kWidth, kWords }, w.scores));
    m.constant("one", Tensor::of<int64_t>({ 1 }, { 1 }));
    m.node("Gather", { "words", "input_ids" }, { "word" });
    if (form.cached)
        m.node("Concat", { form.past, "word" }, { form.present }, { { "axis", int64_t(1) } }).output(form.present);
    m.constant("along", Tensor::scalar<int64_t>(1)); // no word counts for those before it
    m.node("CumSum", { "word", "along" }, { form.cached ? "within" : "sum" });
    if (form.cached)
        m.node("ReduceSum", { form.past, "one" }, { "before" }).node("Add", { "within", "before" }, { "sum" });
    std::string mean = "sum";
    if (form.mask) {
        m.node("Cast", { "attention_mask" }, { "seen" }, { { "to", int64_t(1) } });
        m.node("ReduceSum", { "seen", "one" }, { "count" }).node("Unsqueeze", { "count", "one" }, { "counts" });
        m.node("Div", { "sum", "counts" }, { mean = "mean" });
    }
    m.node("Add", { "word", mean }, { "both" });
    std::string all = "both";
    if (form.places)
        m.node("Gather", { "places", "position_ids" }, { "place" }).node("Add", { "both", "place" }, { all = "all" });
    return m.node("MatMul", { all, "scores" }, { "logits" }).output("logits").finish();
}

using Prompts = std::vector<std::vector<int64_t>>;

inline Prompts decoderPrompts()
{
    std::mt19937 random(8);
    Prompts all(kPrompts);
    for (auto& prompt : all)
        for (size_t i = 0; i < kGiven; ++i)
            prompt.push_back(int64_t(random() % kWords));
    return all;
}

} // namespace qs::test
