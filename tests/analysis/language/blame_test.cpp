// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a model chose another token: against models that are put together of float and quantized layers by
// hand, and on planted damage.
#include "core/analysis/blame/blame.h"
#include "core/analysis/blame/layer_names.h"
#include "tests/analysis/comparing.h"

#include <random>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kWords = 11, kWidth = 6, kLayers = 3, kPositions = 5;

/// Weights by layer; the last is that of the scores.
using Layers = std::vector<std::vector<float>>;

Layers weights(unsigned seed, float disturbance)
{
    std::mt19937 random(4), other(seed);
    std::normal_distribution<float> normal;
    Layers all;
    for (int64_t layer = 0; layer <= kLayers; ++layer) {
        std::vector<float> w(size_t(kWidth * (layer < kLayers ? kWidth : kWords)));
        for (float& v : w)
            v = normal(random) * 0.5f + disturbance * normal(other);
        all.push_back(w);
    }
    return all;
}

/// Words, then layers x + Tanh(mean so far · W), then scores.
template <class Store> Prepared network(const Layers& all, const Store& store, bool fromBehind = false)
{
    std::vector<float> words(size_t(kWords * kWidth));
    std::mt19937 random(9);
    std::normal_distribution<float> normal;
    for (float& v : words)
        v = normal(random);
    SmallModel m("layered");
    m.input("input_ids", { 1, -1 }, DType::Int64);
    m.constant("words", Tensor::of<float>({ kWords, kWidth }, words)).constant("axis", Tensor::of<int64_t>({}, { 1 }));
    m.node("Gather", { "words", "input_ids" }, { "x" });
    std::string x = "x";
    for (int64_t layer = 0; layer < kLayers; ++layer) {
        const std::string scope = "/model/layers." + std::to_string(layer) + "/";
        store(m, layer, scope);
        m.node("CumSum", { x, "axis" }, { scope + "sum" }, { { "reverse", int64_t(fromBehind) } })
            .node("MatMul", { scope + "sum", scope + "w" }, { scope + "product" });
        m.node("Tanh", { scope + "product" }, { scope + "tanh" }).node("Add", { x, scope + "tanh" }, { scope + "y" });
        x = scope + "y";
    }
    m.constant("head", Tensor::of<float>({ kWidth, kWords }, all.back()));
    return m.node("MatMul", { x, "head" }, { "logits" }).output("logits").finish();
}

Prepared layered(const Layers& all, bool fromBehind = false)
{
    const auto store = [&](SmallModel& m, int64_t layer, const std::string& scope) {
        m.constant(scope + "w", Tensor::of<float>({ kWidth, kWidth }, all[size_t(layer)]));
    };
    return network(all, store, fromBehind);
}

constexpr int64_t kBlock = 2;

/// Codes of blocks along the depth of each layer's weight, with a scale each.
struct Codes {
    std::vector<int8_t> codes;
    std::vector<float> scales; ///< [depth / kBlock, width]
    std::vector<float> values() const
    {
        std::vector<float> values;
        for (size_t i = 0; i < codes.size(); ++i) {
            const size_t row = i / size_t(kWidth), column = i % size_t(kWidth);
            values.push_back(float(codes[i]) * scales[row / size_t(kBlock) * size_t(kWidth) + column]);
        }
        return values;
    }
};

Codes codesOf(const std::vector<float>& weight)
{
    Codes made { std::vector<int8_t>(weight.size()), std::vector<float>(weight.size() / size_t(kBlock), 0.25f) };
    for (size_t i = 0; i < weight.size(); ++i)
        made.codes[i] = int8_t(std::lround(weight[i] / 0.25f));
    return made;
}

/// The same network with the layers' weights in blocks.
Prepared blocked(const Layers& floats, const std::vector<Codes>& codes)
{
    const auto store = [&](SmallModel& m, int64_t layer, const std::string& scope) {
        const Codes& c = codes[size_t(layer)];
        m.constant(scope + "w_quantized", Tensor::of<int8_t>({ kWidth, kWidth }, c.codes));
        m.constant(scope + "w_scale", Tensor::of<float>({ kWidth / kBlock, kWidth }, c.scales));
        m.opset(21).node("DequantizeLinear", { scope + "w_quantized", scope + "w_scale" }, { scope + "w" },
            { { "axis", int64_t(0) }, { "block_size", kBlock } });
    };
    return network(floats, store);
}

Tensor prompt(size_t tokens = size_t(kPositions))
{
    const std::vector<int64_t> ids { 3, 7, 1, 10, 4 };
    return Tensor::of<int64_t>({ 1, int64_t(tokens) }, { ids.begin(), ids.begin() + ptrdiff_t(tokens) });
}

Result<TokenBlame> blamed(const Prepared& x, const Prepared& y, const BlameRequest& request, size_t threads = 1)
{
    WorkContext work;
    work.threads = threads;
    return blameToken(pairOf(x, y), x.value("logits"), y.value("logits"), FixedData({ prompt() }), request, work);
}

/// The scores of a model behind a text, or at a position of it.
std::vector<float> scoresOf(const Prepared& model, const Tensor& ids, std::optional<size_t> position = {})
{
    const auto schedule = Schedule::make(model.plan, { { model.value("logits") }, {} }).value();
    BufferPool pool(1 << 20);
    Execution run(schedule, pool);
    if (!run.bind(std::vector<Tensor> { ids }).ok() || !run.runAll().ok())
        qFatal("the model does not run");
    const auto all = run.get(model.value("logits")).data<float>();
    const auto end = position ? all.begin() + ptrdiff_t(*position + 1) * kWords : all.end();
    return { end - kWords, end };
}

const BlamedUnit* unitOf(const TokenBlame& blame, const std::string& name)
{
    const auto it = std::ranges::find(blame.units, name, &BlamedUnit::unit);
    return it == blame.units.end() ? nullptr : &*it;
}

} // namespace

class BlameTests : public QObject {
    Q_OBJECT
private slots:
    void layersOfNames();
    void againstModelsPutTogether_data();
    void againstModelsPutTogether();
    void plantedDamageIsNamedFirst();
    void blocksAgainstModelsPutTogether();
    void plantedBlockIsNamedFirst();
    void equalModelsMoveNothing();
    void afterOwnTokens();
    void ofTheTokenInItsPlace_data();
    void ofTheTokenInItsPlace();
    void refusals();
};

void BlameTests::layersOfNames()
{
    QCOMPARE(layersOf({ "/model/layers.0/attn/MatMul", "/model/layers.11/attn/MatMul", "/model/embed_tokens/Gather" }),
        (std::vector<std::string> { "/model/layers.0", "/model/layers.11", "" }));
    QCOMPARE(layersOf({ "/h/0/mlp/MatMul", "/h/1/mlp/MatMul", "/h/1/mlp/MatMul_1" }),
        (std::vector<std::string> { "/h/0", "/h/1", "/h/1" }));
    // one alone is no layer, and a node's own number none
    QCOMPARE(layersOf({ "/stage.1/MatMul", "/MatMul_1", "/MatMul_2" }), std::vector<std::string>(3));
    QCOMPARE(layersOf({ "/layers.0/experts.0/MatMul", "/layers.0/experts.1/MatMul", "/layers.1/experts.0/MatMul" }),
        (std::vector<std::string> { "/layers.0", "/layers.0", "/layers.1" }));
}

void BlameTests::againstModelsPutTogether_data()
{
    QTest::addColumn<int>("position");
    QTest::addColumn<int>("threads");
    QTest::newRow("last position") << int(kPositions - 1) << 1;
    QTest::newRow("first position") << 0 << 1;
    QTest::newRow("threads") << 2 << 3;
}

void BlameTests::againstModelsPutTogether()
{
    QFETCH(const int, position);
    QFETCH(const int, threads);
    const Layers floats = weights(1, 0), quants = weights(1, 0.2f);
    const auto blame = blamed(layered(floats), layered(quants), { 0, size_t(position), {} }, size_t(threads));
    QVERIFY2(blame.ok(), blame.ok() ? "" : issueText(blame.issue()).c_str());
    const Tensor ids = prompt(size_t(position) + 1);
    const auto difference = [&](const Layers& layers) {
        const std::vector<float> scores = scoresOf(layered(layers), ids);
        return double(scores[size_t(blame->floatId)]) - double(scores[size_t(blame->quantId)]);
    };
    QVERIFY(blame->floatId != blame->quantId);
    QVERIFY(std::abs(blame->floatDifference - difference(floats)) < 1e-6);
    QVERIFY(std::abs(blame->quantDifference - difference(quants)) < 1e-6);
    double forward = 0, backward = 0;
    for (const BlamedUnit& unit : blame->units)
        if (unit.parent.empty()) {
            forward += *unit.forward;
            backward += *unit.backward;
        }
    QVERIFY(std::abs(forward - blame->total()) < 1e-6 && std::abs(backward - blame->total()) < 1e-6);
    for (size_t layer = 0; layer <= size_t(kLayers); ++layer) {
        Layers before = floats, behind = quants; // quantized up to here, and float up to here
        for (size_t i = 0; i < layer; ++i) {
            before[i] = quants[i];
            behind[i] = floats[i];
        }
        const double without = difference(before), withFloat = difference(behind);
        before[layer] = quants[layer];
        behind[layer] = floats[layer];
        const bool head = layer == size_t(kLayers);
        const std::string scope = "/model/layers." + std::to_string(layer);
        const BlamedUnit* const unit = unitOf(*blame, head ? "n_logits" : "n_" + scope);
        QVERIFY2(unit, scope.c_str());
        QCOMPARE(unit->kind, head ? BlameKind::Node : BlameKind::Layer);
        QVERIFY(std::abs(*unit->forward - (difference(before) - without)) < 1e-5);
        QVERIFY(std::abs(*unit->backward - (withFloat - difference(behind))) < 1e-5);
        Layers alone = floats, restored = quants;
        alone[layer] = quants[layer];
        restored[layer] = floats[layer];
        QVERIFY(unit->alone && std::abs(*unit->alone - (difference(alone) - difference(floats))) < 1e-5);
        QVERIFY(unit->restored && std::abs(*unit->restored - (difference(quants) - difference(restored))) < 1e-5);
        if (!head) { // the weight is the product's alone
            const BlamedUnit* const node = unitOf(*blame, "n_" + scope + "/product");
            QVERIFY(node && node->parent == "n_" + scope);
            QVERIFY(std::abs(*node->forward - *unit->forward) < 1e-5);
            QVERIFY(std::abs(*node->alone - *unit->alone) < 1e-5);
            QVERIFY(std::abs(*node->restored - *unit->restored) < 1e-5);
        }
    }
}

void BlameTests::plantedDamageIsNamedFirst()
{
    int first = 0, cases = 0;
    for (unsigned seed = 1; seed <= 8; ++seed)
        for (size_t layer = 0; layer < size_t(kLayers); ++layer) {
            const Layers floats = weights(1, 0);
            Layers damaged = weights(seed, 0.002f);
            for (size_t i = 0; i < size_t(kWidth); ++i)
                damaged[layer][i] += 1.5f;
            const auto blame = blamed(layered(floats), layered(damaged), { 0, 3, {} });
            QVERIFY(blame.ok());
            const auto worst = std::ranges::max_element(blame->units, {}, &BlamedUnit::moved);
            const std::string name = "/model/layers." + std::to_string(layer);
            first += worst != blame->units.end() && worst->unit.find(name) != std::string::npos;
            ++cases;
        }
    QCOMPARE(first, cases);
}

void BlameTests::blocksAgainstModelsPutTogether()
{
    const Layers floats = weights(1, 0);
    Layers quants = floats; // the scores' weight stays
    std::vector<Codes> codes;
    for (size_t layer = 0; layer < size_t(kLayers); ++layer) {
        codes.push_back(codesOf(floats[layer]));
        quants[layer] = codes.back().values();
    }
    const auto blame = blamed(layered(floats), blocked(floats, codes), { 0, 4, {} }, 2);
    QVERIFY2(blame.ok(), blame.ok() ? "" : issueText(blame.issue()).c_str());
    const auto difference = [&](const Layers& layers) {
        const std::vector<float> scores = scoresOf(layered(layers), prompt());
        return double(scores[size_t(blame->floatId)]) - double(scores[size_t(blame->quantId)]);
    };
    size_t found = 0;
    for (size_t layer = 0; layer < size_t(kLayers); ++layer) {
        Layers before = floats, behind = quants; // quantized up to here, and float up to here
        for (size_t i = 0; i < layer; ++i) {
            before[i] = quants[i];
            behind[i] = floats[i];
        }
        const std::string scope = "/model/layers." + std::to_string(layer) + "/";
        double forward = 0, backward = 0;
        for (int64_t first = 0; first < kWidth; first += kBlock) {
            const double f = difference(before), b = difference(behind);
            const auto at = ptrdiff_t(first * kWidth), end = ptrdiff_t((first + kBlock) * kWidth);
            std::copy(quants[layer].begin() + at, quants[layer].begin() + end, before[layer].begin() + at);
            std::copy(floats[layer].begin() + at, floats[layer].begin() + end, behind[layer].begin() + at);
            const BlamedUnit* const unit
                = unitOf(*blame, scope + "w[" + std::to_string(first) + ":" + std::to_string(first + kBlock) + "]");
            QVERIFY(unit && unit->kind == BlameKind::WeightBlock);
            QCOMPARE(unit->parent, "n_" + scope + "product");
            QVERIFY(std::abs(*unit->forward - (difference(before) - f)) < 1e-5);
            QVERIFY(std::abs(*unit->backward - (b - difference(behind))) < 1e-5);
            forward += *unit->forward;
            backward += *unit->backward;
            ++found;
        }
        const BlamedUnit* const node = unitOf(*blame, "n_" + scope + "product");
        QVERIFY(node && std::abs(*node->forward - forward) < 1e-5 && std::abs(*node->backward - backward) < 1e-5);
    }
    QCOMPARE(found, size_t(kLayers * kWidth / kBlock));
}

void BlameTests::plantedBlockIsNamedFirst()
{
    const Layers floats = weights(1, 0);
    int first = 0, cases = 0;
    for (size_t layer = 0; layer < size_t(kLayers); ++layer)
        for (size_t block = 0; block < size_t(kWidth / kBlock); ++block) {
            std::vector<Codes> codes;
            Layers rounded = floats;
            for (size_t i = 0; i < size_t(kLayers); ++i) {
                codes.push_back(codesOf(floats[i]));
                rounded[i] = codes.back().values();
            }
            for (size_t column = 0; column < size_t(kWidth); ++column)
                codes[layer].scales[block * size_t(kWidth) + column] *= 3;
            const auto blame = blamed(layered(rounded), blocked(floats, codes), { 0, 3, {} });
            QVERIFY(blame.ok());
            std::vector<BlamedUnit> blocks = blame->units;
            std::erase_if(blocks, [](const BlamedUnit& unit) { return unit.kind != BlameKind::WeightBlock; });
            const auto worst = std::ranges::max_element(blocks, {}, &BlamedUnit::moved);
            const std::string name
                = "/model/layers." + std::to_string(layer) + "/w[" + std::to_string(block * size_t(kBlock)) + ":";
            first += worst != blocks.end() && worst->unit.starts_with(name);
            ++cases;
        }
    QCOMPARE(first, cases);
}

void BlameTests::equalModelsMoveNothing()
{
    const Layers floats = weights(1, 0);
    const auto blame = blamed(layered(floats), layered(floats), { 0, 2, {} });
    QVERIFY(blame.ok());
    QVERIFY(blame->units.empty() && blame->total() == 0);
    QVERIFY(blame->floatId != blame->quantId && blame->floatDifference >= 0); // the two best
}

/// With --decode free the position counts from the first new token, behind what the float model wrote.
void BlameTests::afterOwnTokens()
{
    const Layers floats = weights(1, 0), quants = weights(2, 0.2f);
    BlameRequest request { 0, 2, FreeDecoding { 3, 9, {} } };
    const auto blame = blamed(layered(floats), layered(quants), request);
    QVERIFY2(blame.ok(), blame.ok() ? "" : issueText(blame.issue()).c_str());
    const std::vector<int64_t> given = { 3, 7, 1 };
    std::vector<int64_t> text = given;
    std::vector<float> scores;
    for (int i = 0; i < 3; ++i) {
        scores = scoresOf(layered(floats), Tensor::of<int64_t>({ 1, int64_t(text.size()) }, text));
        text.push_back(std::ranges::max_element(scores) - scores.begin());
    }
    QCOMPARE(blame->floatId, text.back());
    const double difference = double(scores[size_t(blame->floatId)]) - double(scores[size_t(blame->quantId)]);
    QVERIFY(std::abs(blame->floatDifference - difference) < 1e-6);
}

void BlameTests::ofTheTokenInItsPlace_data()
{
    QTest::addColumn<bool>("whole");
    QTest::newRow("the text up to there") << false;
    QTest::newRow("what stands behind it, too") << true;
}

/// A model that reads from behind scores a position by the tokens that follow, where they are there.
void BlameTests::ofTheTokenInItsPlace()
{
    QFETCH(const bool, whole);
    const Prepared x = layered(weights(1, 0), true), y = layered(weights(2, 0.2f), true);
    BlameRequest request { 0, 1, {} };
    request.whole = whole;
    const auto blame = blamed(x, y, request);
    QVERIFY2(blame.ok(), blame.ok() ? "" : issueText(blame.issue()).c_str());
    const Tensor text = prompt(whole ? size_t(kPositions) : 2);
    const std::vector<float> scores = scoresOf(x, text, 1);
    QCOMPARE(blame->floatId, std::ranges::max_element(scores) - scores.begin());
    const double difference = double(scores[size_t(blame->floatId)]) - double(scores[size_t(blame->quantId)]);
    QVERIFY(std::abs(blame->floatDifference - difference) < 1e-6);
    const std::vector<float> others = scoresOf(y, text, 1);
    QVERIFY(std::abs(blame->quantDifference
                - (double(others[size_t(blame->floatId)]) - double(others[size_t(blame->quantId)])))
        < 1e-6);
}

void BlameTests::refusals()
{
    const Prepared x = layered(weights(1, 0)), y = layered(weights(1, 0.2f));
    for (const BlameRequest& request : { BlameRequest { 1, 0, {} }, BlameRequest { 0, size_t(kPositions), {} },
             BlameRequest { 0, 0, FreeDecoding { size_t(kPositions) + 1, 3, {} } },
             BlameRequest { 0, 3, FreeDecoding { 2, 3, {} } } }) {
        const auto blame = blamed(x, y, request);
        QVERIFY(!blame.ok());
        QCOMPARE(blame.issue().kind, IssueKind::BadInput);
        QVERIFY2(issueText(blame.issue()).find("--blame PROMPT:POSITION") != std::string::npos,
            issueText(blame.issue()).c_str());
    }
}

QTEST_GUILESS_MAIN(BlameTests)
#include "blame_test.moc"
