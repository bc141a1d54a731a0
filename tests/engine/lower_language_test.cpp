// SPDX-License-Identifier: GPL-3.0-or-later
// What language models remember from call to call: convolutions with a state, caches that slide.
#include "core/graph/domains.h"
#include "core/tensor/convert.h"
#include "tests/engine/node_case.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

std::mt19937 g_random; // seeded by each test

Tensor noise(Shape shape) { return normalFloats(g_random, std::move(shape)); }

/// Dims of a convolution with a state.
struct ConvCase {
    int64_t batch = 2, channels = 3, length = 4, taps = 3, dilation = 1;
    bool last = false, bias = false, past = true;
    const char* activation = "none";
    int64_t remembered() const { return (taps - 1) * dilation; }
    Shape shape(int64_t tokens) const
    {
        return last ? Shape { batch, tokens, channels } : Shape { batch, channels, tokens };
    }
    size_t at(int64_t b, int64_t c, int64_t t, int64_t tokens) const
    {
        return static_cast<size_t>(last ? (b * tokens + t) * channels + c : (b * channels + c) * tokens + t);
    }
};

NodeCase convNode(const ConvCase& c)
{
    NodeCase made = makeCase("CausalConvWithState",
        { noise(c.shape(c.length)), noise({ c.channels, 1, c.taps }), c.bias ? noise({ c.channels }) : Tensor(),
            c.past ? noise(c.shape(c.remembered())) : Tensor() },
        2, kMicrosoftDomain);
    made.node.attributes.set("activation", std::string(c.activation));
    made.node.attributes.set("dilation", c.dilation);
    made.node.attributes.set("channels_last", int64_t(c.last));
    return made;
}

constexpr int64_t kWindow = 4, kSize = 8;

/// One key head and two query heads; `past`: keys and values, may be invalid; tokens before and in this call.
NodeCase sliding(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& pastKeys,
    const Tensor& pastValues, int64_t total)
{
    const Tensor last = Tensor::of<int32_t>({ 1 }, { int32_t(total - 1) });
    NodeCase c = makeCase("GroupQueryAttention",
        { queries, keys, values, pastKeys, pastValues, last, Tensor::of<int32_t>({}, { int32_t(total) }) }, 3,
        kMicrosoftDomain);
    c.node.attributes.set("num_heads", int64_t(2));
    c.node.attributes.set("kv_num_heads", int64_t(1));
    c.node.attributes.set("local_window_size", kWindow);
    c.node.attributes.set("sliding_window_cache", int64_t(1));
    return c;
}

NodeCase recurrentNode(int64_t queries, int64_t values, int64_t tokens, const char* rule, const char* domain)
{
    const std::string_view name(rule);
    const Tensor none;
    NodeCase c = makeCase("LinearAttention",
        { noise({ 2, tokens, queries * 4 }), noise({ 2, tokens, queries * 4 }), noise({ 2, tokens, values * 3 }), none,
            name.starts_with("gated") ? noise({ 2, tokens, values }) : none,
            name.ends_with("delta") ? noise({ 2, tokens, values }) : none },
        2, domain);
    c.node.attributes.set("q_num_heads", queries);
    c.node.attributes.set("kv_num_heads", values);
    c.node.attributes.set("update_rule", std::string(name));
    return c;
}

Tensor zeros(Shape shape)
{
    Tensor t = Tensor::allocate(DType::Float32, std::move(shape));
    std::ranges::fill(t.fill<float>(), 0.0f);
    return t;
}

/// Rows [0, count) of one sample along the axis before the last one, whatever is in front.
Tensor firstRows(const Tensor& t, int64_t sample, int64_t count)
{
    Shape shape = t.shape();
    const size_t axis = shape.size() - 2;
    const int64_t rows = shape[axis], width = shape.back(), lines = t.count() / (t.dim(0) * rows * width);
    shape[0] = 1;
    shape[axis] = count;
    std::vector<float> kept;
    for (int64_t line = sample * lines; line < (sample + 1) * lines; ++line) {
        const float* from = t.data<float>().data() + line * rows * width;
        kept.insert(kept.end(), from, from + count * width);
    }
    return Tensor::of<float>(std::move(shape), kept);
}

/// Chunks of a prompt behind caches, of which `counts` tokens count.
struct Chunk {
    std::vector<int32_t> past, counts;
    int64_t room = 8, window = -1;
    bool slides = false, turns = false;
    int64_t tokens = 3;
};

/// `states`: queries, keys, values and caches; `counts` may be invalid.
NodeCase chunkNode(const Chunk& c, std::vector<Tensor> states, const std::vector<int32_t>& totals, int64_t total,
    const std::vector<Tensor>& angles, const Tensor& counts)
{
    states.push_back(Tensor::of<int32_t>({ int64_t(totals.size()) }, totals));
    states.push_back(Tensor::of<int32_t>({}, { int32_t(total) }));
    states.resize(17);
    if (c.turns)
        std::ranges::copy(angles, states.begin() + 7);
    states[16] = counts;
    NodeCase made = makeCase("GroupQueryAttention", std::move(states), 3, kMicrosoftDomain);
    made.node.attributes.set("num_heads", int64_t(4));
    made.node.attributes.set("kv_num_heads", int64_t(2));
    made.node.attributes.set("local_window_size", c.window);
    made.node.attributes.set("sliding_window_cache", int64_t(c.slides));
    made.node.attributes.set("do_rotary", int64_t(c.turns));
    return made;
}

Tensor rowsOf(const Tensor& t, int64_t first, int64_t end)
{
    const auto all = toFloats(t);
    const int64_t width = t.shape().back();
    return Tensor::of<float>({ 1, end - first, width }, { all.begin() + first * width, all.begin() + end * width });
}

/// Softmax over the keys that the window leaves, in double.
std::vector<double> windowed(const Tensor& queries, const Tensor& keys, const Tensor& values)
{
    const auto q = toDoubles(queries), k = toDoubles(keys), v = toDoubles(values);
    std::vector<double> y(q.size(), 0);
    for (int64_t t = 0; t < queries.dim(1); ++t)
        for (int64_t head = 0; head < 2; ++head) {
            const size_t at = size_t((t * 2 + head) * kSize);
            std::vector<double> weights;
            double sum = 0;
            const int64_t first = std::max<int64_t>(0, t - kWindow + 1);
            for (int64_t past = first; past <= t; ++past) {
                double score = 0;
                for (int64_t e = 0; e < kSize; ++e)
                    score += q[at + size_t(e)] * k[size_t(past * kSize + e)];
                weights.push_back(std::exp(score / std::sqrt(double(kSize))));
                sum += weights.back();
            }
            for (int64_t past = first; past <= t; ++past)
                for (int64_t e = 0; e < kSize; ++e)
                    y[at + size_t(e)] += weights[size_t(past - first)] / sum * v[size_t(past * kSize + e)];
        }
    return y;
}

bool near(const std::vector<double>& a, const std::vector<double>& b)
{
    return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) <= 1e-5 * (1 + std::abs(y)); });
}

} // namespace

Q_DECLARE_METATYPE(ConvCase)
Q_DECLARE_METATYPE(Chunk)

class LowerLanguageTests : public QObject {
    Q_OBJECT
private slots:
    void init() { g_random.seed(5); }
    void causalConv_data();
    void causalConv();
    void causalConvGoesOn();
    void causalConvRefuses_data();
    void causalConvRefuses();
    void statesBeginWithZeros_data();
    void statesBeginWithZeros();
    void nothingChangesStates();
    void gatedAdd();
    void largeBlocks_data();
    void largeBlocks();
    void rotarySections();
    void paddedChunks_data();
    void paddedChunks();
    void slidingCacheBeginsEmpty_data();
    void slidingCacheBeginsEmpty();
};

void LowerLanguageTests::causalConv_data()
{
    QTest::addColumn<ConvCase>("c");
    QTest::newRow("plain") << ConvCase {};
    QTest::newRow("without a past") << ConvCase { .past = false };
    QTest::newRow("one token") << ConvCase { .length = 1 };
    QTest::newRow("one tap") << ConvCase { .taps = 1 };
    QTest::newRow("bias and SiLU") << ConvCase { .bias = true, .activation = "silu" };
    QTest::newRow("dilated") << ConvCase { .length = 3, .dilation = 3 };
    QTest::newRow("channels last") << ConvCase { .last = true, .bias = true };
    QTest::newRow("channels last, dilated, one token")
        << ConvCase { .length = 1, .dilation = 2, .last = true, .activation = "swish" };
    QTest::newRow("channels last, without a past") << ConvCase { .taps = 4, .last = true, .past = false };
}

void LowerLanguageTests::causalConv()
{
    QFETCH(const ConvCase, c);
    const NodeCase node = convNode(c);
    const auto x = toDoubles(node.inputs[0]), w = toDoubles(node.inputs[1]);
    const auto bias = c.bias ? toDoubles(node.inputs[2]) : std::vector<double>(size_t(c.channels));
    const auto past = c.past ? toDoubles(node.inputs[3]) : std::vector<double>(x.size() + 100);
    std::vector<double> y(x.size()), state(size_t(c.batch * c.channels * c.remembered()));
    for (int64_t b = 0; b < c.batch; ++b)
        for (int64_t channel = 0; channel < c.channels; ++channel) {
            const auto seen = [&](int64_t t) {
                return t >= 0 ? x[c.at(b, channel, t, c.length)]
                              : past[c.at(b, channel, t + c.remembered(), c.remembered())];
            };
            for (int64_t t = 0; t < c.length; ++t) {
                double sum = bias[size_t(channel)];
                for (int64_t k = 0; k < c.taps; ++k)
                    sum += w[size_t(channel * c.taps + k)] * seen(t - (c.taps - 1 - k) * c.dilation);
                const bool silu = std::string_view(c.activation) != "none";
                y[c.at(b, channel, t, c.length)] = silu ? sum / (1 + std::exp(-sum)) : sum;
            }
            for (int64_t t = 0; t < c.remembered(); ++t)
                state[c.at(b, channel, t, c.remembered())] = seen(c.length - c.remembered() + t);
        }
    for (const KernelMode mode : { KernelMode::Fast, KernelMode::Reference }) {
        const auto made = run(node, mode);
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        QCOMPARE((*made)[0].shape(), c.shape(c.length));
        QCOMPARE((*made)[1].shape(), c.shape(c.remembered()));
        QVERIFY(near(toDoubles((*made)[0]), y));
        QVERIFY(near(toDoubles((*made)[1]), state));
    }
}

/// Token by token, each call with the state of the one before, is all of it at once.
void LowerLanguageTests::causalConvGoesOn()
{
    const ConvCase whole { .batch = 1, .length = 5, .dilation = 2, .past = false };
    const NodeCase all = convNode(whole);
    const auto wanted = toDoubles((*run(all))[0]);
    Tensor state;
    for (int64_t t = 0; t < whole.length; ++t) {
        NodeCase step = all;
        std::vector<float> token;
        for (int64_t channel = 0; channel < whole.channels; ++channel)
            token.push_back(all.inputs[0].data<float>()[whole.at(0, channel, t, whole.length)]);
        step.inputs[0] = Tensor::of<float>({ 1, whole.channels, 1 }, token);
        step.inputs[3] = state;
        const auto made = run(step);
        QVERIFY(made.ok());
        for (int64_t channel = 0; channel < whole.channels; ++channel)
            QVERIFY(std::abs(double((*made)[0].data<float>()[size_t(channel)])
                        - wanted[whole.at(0, channel, t, whole.length)])
                < 1e-5);
        state = (*made)[1];
    }
}

void LowerLanguageTests::causalConvRefuses_data()
{
    QTest::addColumn<QString>("attribute");
    QTest::addColumn<int>("value");
    QTest::newRow("more dimensions") << "ndim" << 2;
    QTest::newRow("states of several tokens") << "state_window" << 2;
    QTest::newRow("a length of its own") << "state_length" << 7;
    QTest::newRow("no dilation") << "dilation" << 0;
    QTest::newRow("another state than the dilation needs") << "dilation" << 2;
}

void LowerLanguageTests::causalConvRefuses()
{
    QFETCH(const QString, attribute);
    QFETCH(const int, value);
    const auto made = run(with(convNode({}), attribute.toStdString(), int64_t(value)));
    QVERIFY(!made.ok() && made.issue().kind == IssueKind::BadInput);
}

void LowerLanguageTests::statesBeginWithZeros_data()
{
    QTest::addColumn<QString>("rule");
    QTest::addColumn<QString>("domain");
    for (const char* rule : { "linear", "gated", "delta", "gated_delta", "convolution" })
        for (const char* domain : { "", kMicrosoftDomain })
            QTest::addRow("%s %s", rule, domain) << QString::fromLatin1(rule) << QString::fromLatin1(domain);
}

/// No state, and one of zeros: the same in every bit.
void LowerLanguageTests::statesBeginWithZeros()
{
    QFETCH(const QString, rule);
    QFETCH(const QString, domain);
    const bool convolves = rule == "convolution";
    NodeCase c = convolves ? convNode({ .past = false })
                           : recurrentNode(2, 4, 3, rule.toStdString().c_str(), domain.toStdString().c_str());
    c.node.domain = domain.toStdString();
    c.inputs.resize(std::max<size_t>(c.inputs.size(), 4));
    const auto none = run(c);
    c.inputs[3] = convolves ? zeros({ 2, 3, 2 }) : zeros({ 2, 4, 4, 3 });
    const auto first = run(c);
    QVERIFY2(none.ok() && first.ok(), none.ok() ? "" : none.issue().what.c_str());
    for (size_t i : { 0, 1 })
        QVERIFY(sameBits((*none)[i], (*first)[i]));
    c.inputs[3] = convolves ? zeros({ 2, 3, 0 }) : zeros({ 2, 4, 0, 3 }); // an empty state is none of this node's
    QVERIFY(!run(c).ok());
}

/// A call without tokens hands the state on; a convolution of one tap has an empty one.
void LowerLanguageTests::nothingChangesStates()
{
    NodeCase recurrent = recurrentNode(2, 4, 0, "gated_delta", kMicrosoftDomain);
    recurrent.inputs[3] = noise({ 2, 4, 4, 3 });
    const auto handed = run(recurrent);
    QVERIFY2(handed.ok(), handed.ok() ? "" : handed.issue().what.c_str());
    QCOMPARE((*handed)[0].shape(), (Shape { 2, 0, 12 }));
    QVERIFY(sameBits((*handed)[1], recurrent.inputs[3]));
    const NodeCase still = convNode({ .length = 0 });
    const auto kept = run(still);
    QVERIFY2(kept.ok(), kept.ok() ? "" : kept.issue().what.c_str());
    QVERIFY(sameBits((*kept)[1], still.inputs[3]));
    const auto empty = run(convNode({ .taps = 1 }));
    QVERIFY2(empty.ok(), empty.ok() ? "" : empty.issue().what.c_str());
    QCOMPARE((*empty)[1].shape(), (Shape { 2, 3, 0 }));
}

void LowerLanguageTests::gatedAdd()
{
    NodeCase c = makeCase("GatedAdd",
        { Tensor::of<float>({ 2, 1, 2 }, { 1, 2, 3, 4 }), Tensor::of<float>({ 2, 1, 2 }, { 10, 20, 30, 40 }),
            Tensor::of<float>({ 2, 1, 1 }, { 0.5f, -2 }) },
        1, kMicrosoftDomain);
    const auto made = run(c);
    QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
    QCOMPARE(toDoubles((*made)[0]), (std::vector<double> { 6, 12, -57, -76 }));
    c.inputs[2] = noise({ 2, 1, 2 });
    QVERIFY(!run(c).ok()); // one gate a row
}

void LowerLanguageTests::largeBlocks_data()
{
    QTest::addColumn<int>("bits");
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("same"); // size of blocks that give the same
    QTest::addColumn<int>("level"); // at this accuracy level
    QTest::newRow("4 bits") << 4 << 512 << 256 << 4;
    QTest::newRow("8 bits") << 8 << 1024 << 256 << 4;
    QTest::newRow("2 bits as floats") << 2 << 256 << 256 << 0;
}

/// Rows that are coded share a scale over 256 elements at most; of 2 bits with blocks of 256 they are not coded.
void LowerLanguageTests::largeBlocks()
{
    QFETCH(const int, bits);
    QFETCH(const int, block);
    QFETCH(const int, same);
    QFETCH(const int, level);
    constexpr int64_t kDepth = 2000, kColumns = 7;
    const Tensor x = noise({ 3, kDepth });
    const auto product = [&](int64_t size, const std::vector<uint8_t>& codes, const std::vector<float>& scales,
                             int64_t accuracy, KernelMode mode) {
        NodeCase c = makeCase("MatMulNBits",
            { x, Tensor::of<uint8_t>({ int64_t(codes.size()) }, codes),
                Tensor::of<float>({ int64_t(scales.size()) }, scales) },
            1, kMicrosoftDomain);
        for (const auto& [name, value] : { std::pair { "K", kDepth }, { "N", kColumns }, { "bits", int64_t(bits) },
                 { "block_size", size }, { "accuracy_level", accuracy } })
            c.node.attributes.set(name, value);
        return run(c, mode, Weights::Constant);
    };
    const int64_t blocks = (kDepth + block - 1) / block;
    std::vector<uint8_t> codes(size_t(kColumns * blocks * block * bits / 8));
    for (uint8_t& code : codes)
        code = static_cast<uint8_t>(g_random());
    std::vector<float> scales, repeated;
    for (int64_t i = 0; i < kColumns * blocks; ++i) {
        scales.push_back(0.01f * float(1 + g_random() % 9));
        repeated.insert(repeated.end(), size_t(block / same), scales.back());
    }
    for (const KernelMode mode : { KernelMode::Fast, KernelMode::Reference }) {
        const auto a = product(block, codes, scales, 4, mode), b = product(same, codes, repeated, level, mode);
        QVERIFY2(a.ok() && b.ok(), a.ok() ? "" : a.issue().what.c_str());
        QVERIFY(sameBits((*a)[0], (*b)[0]));
    }
}

void LowerLanguageTests::rotarySections()
{
    NodeCase c = makeCase("MRotaryEmbedding",
        { noise({ 1, 1, 1, 4 }), Tensor::of<int64_t>({ 3, 1, 1 }, { 0, 1, 1 }), noise({ 2, 2 }), noise({ 2, 2 }) }, 1,
        kMicrosoftDomain);
    c.node.attributes.set("mrope_section", std::vector<int64_t> { 1, 1, 0 });
    QVERIFY(run(c).ok());
    // The sum leaves 64 bits and comes out at 2 again.
    c.node.attributes.set("mrope_section", std::vector<int64_t>(3, 6148914691236517206));
    const auto outcome = run(c);
    QVERIFY(!outcome.ok() && outcome.issue().kind == IssueKind::BadInput);
    QVERIFY(QString::fromStdString(outcome.issue().what).contains("whose sum is 2"));
}

void LowerLanguageTests::paddedChunks_data()
{
    QTest::addColumn<Chunk>("c");
    QTest::newRow("the first ones") << Chunk { { 0, 0 }, { 3, 1 } };
    QTest::newRow("later ones") << Chunk { { 3, 5 }, { 2, 1 } };
    QTest::newRow("a full one, an idle one") << Chunk { { 4, 2 }, { 3, 0 } };
    QTest::newRow("one token") << Chunk { .past = { 4, 2 }, .counts = { 1, 0 }, .tokens = 1 };
    QTest::newRow("turned") << Chunk { .past = { 3, 5 }, .counts = { 2, 1 }, .turns = true };
    QTest::newRow("a window") << Chunk { .past = { 3, 5 }, .counts = { 2, 3 }, .window = 2 };
    QTest::newRow("a cache that slides") << Chunk {
        .past = { 9, 3 }, .counts = { 1, 3 }, .room = 6, .window = 4, .slides = true, .turns = true
    };
}

/// Each sample as if it were called alone without its padding.
void LowerLanguageTests::paddedChunks()
{
    QFETCH(const Chunk, c);
    constexpr int64_t size = 16;
    const std::vector<Tensor> states { noise({ 2, c.tokens, 4 * size }), noise({ 2, c.tokens, 2 * size }),
        noise({ 2, c.tokens, 2 * size }), noise({ 2, 2, c.room, size }), noise({ 2, 2, c.room, size }) };
    const std::vector<Tensor> angles { noise({ 20, size / 2 }), noise({ 20, size / 2 }) };
    const std::vector<int32_t> last { c.past[0] + c.counts[0] - 1, c.past[1] + c.counts[1] - 1 };
    const auto made
        = run(chunkNode(c, states, last, c.slides ? 12 : c.room, angles, Tensor::of<int32_t>({ 2 }, c.counts)));
    QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
    for (int64_t b = 0; b < 2; ++b) {
        const int64_t count = c.counts[size_t(b)], past = c.past[size_t(b)];
        const int64_t present = c.slides ? std::min(past + count, c.window) : past + count;
        if (count == 0) {
            QVERIFY(sameBits(firstRows((*made)[1], b, present), firstRows(states[3], b, present)));
            continue;
        }
        const int64_t held = c.slides ? c.room : past;
        std::vector<Tensor> own;
        for (size_t i = 0; i < 5; ++i)
            own.push_back(firstRows(states[i], b, i < 3 ? count : held));
        const auto alone = run(chunkNode(c, own, { int32_t(past + count - 1) }, past + count, angles, Tensor()));
        QVERIFY2(alone.ok(), alone.ok() ? "" : alone.issue().what.c_str());
        QVERIFY(near(toDoubles(firstRows((*made)[0], b, count)), toDoubles(firstRows((*alone)[0], 0, count))));
        for (size_t i : { 1, 2 })
            QVERIFY(near(toDoubles(firstRows((*made)[i], b, present)), toDoubles(firstRows((*alone)[i], 0, present))));
    }
}

void LowerLanguageTests::slidingCacheBeginsEmpty_data()
{
    QTest::addColumn<int>("tokens");
    QTest::addColumn<bool>("absent"); // no cache at all
    for (const int tokens : { 1, 3, 4, 9 })
        for (const bool absent : { false, true })
            QTest::addRow("%d tokens, %s", tokens, absent ? "no cache" : "an empty one") << tokens << absent;
}

/// It makes room for its window: the same as a whole buffer of zeros, and what goes on from it is what a longer prompt
/// gives.
void LowerLanguageTests::slidingCacheBeginsEmpty()
{
    QFETCH(const int, tokens);
    QFETCH(const bool, absent);
    const Tensor q = noise({ 1, tokens + 2, 2 * kSize }), k = noise({ 1, tokens + 2, kSize }),
                 v = noise({ 1, tokens + 2, kSize });
    const auto wanted = windowed(q, k, v);
    const Tensor none = absent ? Tensor() : Tensor::allocate(DType::Float32, { 1, 1, 0, kSize });
    Tensor zeros = Tensor::allocate(DType::Float32, { 1, 1, kWindow, kSize });
    std::ranges::fill(zeros.fill<float>(), 0.0f);
    const Tensor first = rowsOf(q, 0, tokens), keys = rowsOf(k, 0, tokens), values = rowsOf(v, 0, tokens);
    auto made = run(sliding(first, keys, values, none, none, tokens));
    const auto buffer = run(sliding(first, keys, values, zeros, zeros, tokens));
    QVERIFY2(made.ok() && buffer.ok(), made.ok() ? "" : made.issue().what.c_str());
    for (size_t i = 0; i < 3; ++i) {
        QCOMPARE((*made)[i].shape(), (*buffer)[i].shape());
        QVERIFY(sameBits((*made)[i], (*buffer)[i]));
    }
    QCOMPARE((*made)[1].shape(), (Shape { 1, 1, kWindow, kSize }));
    const auto part = [&](int64_t from, int64_t to) {
        return std::vector<double>(wanted.begin() + from * 2 * kSize, wanted.begin() + to * 2 * kSize);
    };
    QVERIFY(near(toDoubles((*made)[0]), part(0, tokens)));
    for (int64_t t = tokens; t < tokens + 2; ++t) {
        made = run(
            sliding(rowsOf(q, t, t + 1), rowsOf(k, t, t + 1), rowsOf(v, t, t + 1), (*made)[1], (*made)[2], t + 1));
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        QVERIFY(near(toDoubles((*made)[0]), part(t, t + 1)));
    }
}

int runLowerLanguageTests(int argc, char** argv)
{
    LowerLanguageTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "lower_language_test.moc"
