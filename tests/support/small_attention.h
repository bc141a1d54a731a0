// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"
#include "core/graph/domains.h"
#include "tests/support/small_model.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

/// Language models of one attention each, by every operator that remembers keys and values, and prompts for them.
namespace qs::test {

/// How keys and values are remembered.
enum class Memory { Group, GroupPacked, ManyHeads, Joined, Standard, Concat, ConcatTurned };

struct AttentionForm {
    Memory memory = Memory::Group;
    int64_t heads = 4, keyHeads = 2, size = 6;
    bool rotary = true, interleaved = false;
};

constexpr int64_t kVocabulary = 11, kLongest = 5, kPlaces = 32;

class SmallAttention {
public:
    SmallAttention(const AttentionForm& form, unsigned seed)
        : m_form(form)
        , m_random(seed)
        , m("attention")
    {
    }

    Prepared make()
    {
        const auto& f = m_form;
        m.opset(f.memory == Memory::Standard ? 23 : 17);
        m.input("input_ids", { -1, -1 }, DType::Int64).input("attention_mask", { -1, -1 }, DType::Int64);
        addPasts();
        weight("words", { kVocabulary, width() });
        m.node("Gather", { "words", "input_ids" }, { "x" });
        m.constant("cosines", angles(true)).constant("sines", angles(false));
        m.constant("one", Tensor::of<int64_t>({ 1 }, { 1 }));
        if (f.memory == Memory::Group || f.memory == Memory::GroupPacked)
            addGroup();
        else if (f.memory == Memory::Joined)
            addJoined();
        else
            addApart();
        weight("guess", { f.heads * f.size, kVocabulary });
        return m.node("MatMul", { "y", "guess" }, { "logits" }).output("logits").finish();
    }

private:
    int64_t width() const { return m_form.heads * m_form.size; }

    void weight(const std::string& name, const Shape& shape)
    {
        std::normal_distribution<float> normal(0, 0.7f);
        std::vector<float> values(size_t(shape[0] * shape[1]));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = normal(m_random) * (i % 13 == 4 ? 6.0f : 1.0f); // some channels stand out
        m.constant(name, Tensor::of<float>(shape, values));
    }

    Tensor angles(bool cosine) const
    {
        const int64_t pairs = m_form.size / 2;
        std::vector<float> values;
        for (int64_t p = 0; p < kPlaces; ++p)
            for (int64_t i = 0; i < pairs; ++i) {
                const double angle = double(p) * std::pow(10.0, -double(i) / double(pairs));
                values.push_back(float(cosine ? std::cos(angle) : std::sin(angle)));
            }
        return Tensor::of<float>({ kPlaces, pairs }, values);
    }

    void addPasts()
    {
        const auto& f = m_form;
        if (f.memory == Memory::Joined) {
            m.input("past_0", { 2, -1, f.heads, -1, f.size });
            return;
        }
        const bool turned = f.memory == Memory::ConcatTurned;
        m.input("past_key_values.3.key",
            turned ? Shape { -1, f.keyHeads, f.size, -1 } : Shape { -1, f.keyHeads, -1, f.size });
        m.input("past_key_values.3.value", { -1, f.keyHeads, -1, f.size });
    }

    void project(const std::string& name, int64_t heads)
    {
        weight("w" + name, { width(), heads * m_form.size });
        m.node("MatMul", { "x", "w" + name }, { name });
    }

    void addGroup()
    {
        const auto& f = m_form;
        m.node("ReduceSum", { "attention_mask", "one" }, { "counts" }, { { "keepdims", int64_t(0) } });
        m.node("Sub", { "counts", "one" }, { "last64" })
            .node("Cast", { "last64" }, { "last" }, { { "to", int64_t(6) } });
        m.node("Shape", { "attention_mask" }, { "sizes" }).node("Gather", { "sizes", "one" }, { "total64" });
        m.node("Cast", { "total64" }, { "total" }, { { "to", int64_t(6) } });
        SmallModel::Names in { "q", "k", "v" };
        if (f.memory == Memory::GroupPacked) {
            project("qkv", f.heads + 2 * f.keyHeads);
            in = { "qkv", "", "" };
        } else {
            project("q", f.heads), project("k", f.keyHeads), project("v", f.keyHeads);
        }
        in.insert(
            in.end(), { "past_key_values.3.key", "past_key_values.3.value", "last", "total", "cosines", "sines" });
        m.node("GroupQueryAttention", in, { "y", "present.3.key", "present.3.value" },
            { { "num_heads", f.heads }, { "kv_num_heads", f.keyHeads }, { "do_rotary", int64_t(f.rotary) },
                { "rotary_interleaved", int64_t(f.interleaved) } },
            kMicrosoftDomain);
        m.output("present.3.key").output("present.3.value");
    }

    void addJoined()
    {
        weight("wqkv", { width(), 3 * width() });
        m.constant("bqkv", Tensor::of<float>({ 3 * width() }, std::vector<float>(size_t(3 * width()), 0.1f)));
        m.node("Attention", { "x", "wqkv", "bqkv", "", "past_0" }, { "y", "present_0" },
            { { "num_heads", m_form.heads }, { "unidirectional", int64_t(1) } }, kMicrosoftDomain);
        m.output("present_0");
    }

    /// Positions of the tokens: 0, 1 ...
    void addPositions()
    {
        m.node("CumSum", { "attention_mask", "axis" }, { "counted" }).node("Sub", { "counted", "one" }, { "before" });
        m.constant("axis", Tensor::scalar<int64_t>(1)).constant("none", Tensor::scalar<int64_t>(0));
        m.node("Max", { "before", "none" }, { "positions" });
    }

    void addApart()
    {
        const auto& f = m_form;
        project("q", f.heads), project("k", f.keyHeads), project("v", f.keyHeads);
        addPositions();
        const SmallModel::Names out { "y", "present.3.key", "present.3.value" };
        if (f.memory == Memory::ManyHeads) {
            m.node("RotaryEmbedding", { "k", "positions", "cosines", "sines" }, { "turned" },
                { { "interleaved", int64_t(f.interleaved) } }, kMicrosoftDomain);
            m.node("MultiHeadAttention",
                { "q", f.rotary ? "turned" : "k", "v", "", "", "", "past_key_values.3.key", "past_key_values.3.value" },
                out, { { "num_heads", f.heads }, { "unidirectional", int64_t(1) } }, kMicrosoftDomain);
        } else if (f.memory == Memory::Standard) {
            m.node("RotaryEmbedding", { "k", "cosines", "sines", "positions" }, { "turned" },
                { { "interleaved", int64_t(f.interleaved) }, { "num_heads", f.keyHeads } });
            m.node("Attention",
                { "q", f.rotary ? "turned" : "k", "v", "", "past_key_values.3.key", "past_key_values.3.value" }, out,
                { { "q_num_heads", f.heads }, { "kv_num_heads", f.keyHeads }, { "is_causal", int64_t(1) } });
        } else {
            addConcat();
        }
        m.output("present.3.key").output("present.3.value");
    }

    void splitHeads(const std::string& from, const std::string& to, int64_t heads)
    {
        m.constant("shape_" + to, Tensor::of<int64_t>({ 4 }, { 0, 0, heads, m_form.size }));
        m.node("Reshape", { from, "shape_" + to }, { "heads_" + to });
        m.node("Transpose", { "heads_" + to }, { to }, { { "perm", std::vector<int64_t> { 0, 2, 1, 3 } } });
    }

    /// What exporters write for k * cos + [-k2, k1] * sin.
    void addTurned()
    {
        const int64_t half = m_form.size / 2;
        m.constant("two", Tensor::of<int64_t>({ 1 }, { 2 }));
        for (const char* name : { "cosines", "sines" }) {
            const std::string n = name;
            m.node("Concat", { n, n }, { n + "_all" }, { { "axis", int64_t(1) } });
            m.node("Gather", { n + "_all", "positions" }, { n + "_at" })
                .node("Unsqueeze", { n + "_at", "one" }, { n + "_here" });
        }
        m.constant("sizes", Tensor::of<int64_t>({ 2 }, { half, half })); // of the halves
        m.node("Split", { "kh", "sizes" }, { "k1", "k2" }, { { "axis", int64_t(-1) } });
        m.node("Neg", { "k2" }, { "minus" }).node("Concat", { "minus", "k1" }, { "half" }, { { "axis", int64_t(-1) } });
        m.node("Mul", { "kh", "cosines_here" }, { "a" }).node("Mul", { "half", "sines_here" }, { "b" });
        m.node("Add", { "a", "b" }, { "turned" });
    }

    void addConcat()
    {
        const auto& f = m_form;
        splitHeads("q", "qh", f.heads), splitHeads("k", "kh", f.keyHeads), splitHeads("v", "vh", f.keyHeads);
        std::string keys = "kh";
        if (f.rotary)
            addTurned(), keys = "turned";
        const bool turned = f.memory == Memory::ConcatTurned;
        if (turned)
            m.node("Transpose", { keys }, { "upright" }, { { "perm", std::vector<int64_t> { 0, 1, 3, 2 } } });
        m.node("Concat", { "past_key_values.3.key", turned ? "upright" : keys }, { "present.3.key" },
            { { "axis", turned ? int64_t(3) : int64_t(2) } });
        m.node("Concat", { "past_key_values.3.value", "vh" }, { "present.3.value" }, { { "axis", int64_t(-2) } });
        m.node("ReduceMean", { "present.3.value" }, { "mean" },
            { { "axes", std::vector<int64_t> { 1, 2 } }, { "keepdims", int64_t(1) } });
        m.node("ReduceSum", { "present.3.key", "axes" }, { "keys" }).node("Add", { "qh", "mean" }, { "some" });
        m.constant("axes", Tensor::of<int64_t>({ 3 }, { 1, 2, 3 }));
        m.node("Add", { "some", "keys" }, { "all" });
        m.node("Transpose", { "all" }, { "back" }, { { "perm", std::vector<int64_t> { 0, 2, 1, 3 } } });
        m.constant("flat", Tensor::of<int64_t>({ 3 }, { 0, 0, width() }));
        m.node("Reshape", { "back", "flat" }, { "y" });
    }

    AttentionForm m_form;
    std::mt19937 m_random;
    SmallModel m;
};

/// Prompts of different lengths, padded at their ends; two a feed.
class AttentionPrompts final : public DataSource {
public:
    AttentionPrompts(const AttentionForm& form, unsigned seed, size_t feeds = 3)
        : m_form(form)
        , m_seed(seed)
    {
        m_feeds = feeds;
        m_samples = 2 * feeds;
    }
    Result<Feed> feed(size_t index) const override
    {
        std::mt19937 random(m_seed + unsigned(index));
        std::vector<int64_t> ids, mask;
        for (size_t row = 0; row < 2; ++row) {
            const int64_t length = row == 0 ? kLongest : 1 + int64_t(random() % kLongest);
            for (int64_t p = 0; p < kLongest; ++p) {
                ids.push_back(int64_t(random() % kVocabulary));
                mask.push_back(p < length);
            }
        }
        Feed feed { { Tensor::of<int64_t>({ 2, kLongest }, ids), Tensor::of<int64_t>({ 2, kLongest }, mask) },
            2 * index, 2 };
        const auto& f = m_form;
        if (f.memory == Memory::Joined) {
            feed.inputs.push_back(Tensor::of<float>({ 2, 2, f.heads, 0, f.size }, {}));
            return feed;
        }
        const bool turned = f.memory == Memory::ConcatTurned;
        feed.inputs.push_back(
            Tensor::of<float>(turned ? Shape { 2, f.keyHeads, f.size, 0 } : Shape { 2, f.keyHeads, 0, f.size }, {}));
        feed.inputs.push_back(Tensor::of<float>({ 2, f.keyHeads, 0, f.size }, {}));
        return feed;
    }

private:
    AttentionForm m_form;
    unsigned m_seed;
};

} // namespace qs::test
