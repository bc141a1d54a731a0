// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/finding_groups.h"
#include "core/analysis/rules/findings.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/runners.h"
#include "tests/support/helper_call.h"
#include "tests/support/tensors.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kCount = 512;

FixedData normalData() { return FixedData({ Tensor::of<float>({ kCount }, normals(kCount, 9)) }); }

/// x -> Neg -> a -> Neg -> y
Prepared plain()
{
    return SmallModel("f")
        .input("x", { kCount })
        .node("Neg", { "x" }, { "a" })
        .node("Neg", { "a" }, { "y" })
        .output("y")
        .finish();
}

/// The same with both values quantized to int8; a scale of 0.034 fits normal data.
Prepared quantized(float scaleX, float scaleA)
{
    return SmallModel("q")
        .input("x", { kCount })
        .qdq<int8_t>("x", "x_dq", scaleX, 0)
        .node("Neg", { "x_dq" }, { "a" })
        .qdq<int8_t>("a", "a_dq", scaleA, 0)
        .node("Neg", { "a_dq" }, { "y" })
        .output("y")
        .finish();
}

/// A convolution of 8 channels; `codes` of the quantized form with one scale.
struct ConvPair {
    Prepared f, q;
};
ConvPair convPair(const std::vector<float>& weight, const std::vector<int8_t>& codes, const std::vector<float>& scales)
{
    const Shape shape { 8, 1, 3, 3 };
    Prepared f = SmallModel("f")
                     .input("x", { 1, 1, 8, 8 })
                     .constant("w", Tensor::of<float>(shape, weight))
                     .node("Conv", { "x", "w" }, { "y" })
                     .output("y")
                     .finish();
    Prepared q = SmallModel("q")
                     .input("x", { 1, 1, 8, 8 })
                     .weight("w", shape, codes, scales)
                     .qdq<int8_t>("x", "x_dq", 0.03f, 0)
                     .node("Conv", { "x_dq", "w" }, { "u" })
                     .qdq<int8_t>("u", "y", 0.12f, 0)
                     .output("y")
                     .finish();
    return { std::move(f), std::move(q) };
}

FixedData pictures() { return FixedData({ Tensor::of<float>({ 1, 1, 8, 8 }, normals(64, 4)) }); }

double number(const Finding& f, const std::string& key)
{
    const auto it = std::ranges::find(f.evidence, key, &EvidenceItem::key);
    return it == f.evidence.end() || !it->number ? std::nan("") : *it->number;
}

/// What every finding must say.
void verifyComplete(const Finding& f)
{
    QVERIFY2(!f.title.empty() && !f.summary.empty() && !f.remedy.empty() && !f.evidence.empty(),
        std::string(ruleId(f.rule)).c_str());
    QVERIFY2(!f.tensor.empty() || !f.node.empty(), std::string(ruleId(f.rule)).c_str());
}

} // namespace

class FindingsTests : public QObject {
    Q_OBJECT
private slots:
    void healthyPairHasNone();
    void rangeTooSmall();
    void slightClippingIsNoError();
    void rangeTooLarge();
    void inputMismatch();
    void inputMismatchThroughReshape();
    void inherited();
    void inheritedByAWayAround();
    void channelImbalance();
    void weightsDiffer();
    void oneCauseIsOneCard();
    void adviceWhereAllSamplesErr_data();
    void adviceWhereAllSamplesErr();
    void rangesBehindTheInput_data();
    void rangesBehindTheInput();
    void unmatched();
    void mostSevereFirst();
    void groups();
};

/// One rule, severity and kind of remedy; by the worst; what tells of several places stands alone.
void FindingsTests::groups()
{
    const auto of = [](Rule rule, const char* node, RemedyKind kind) {
        Finding f = makeFinding(rule, node);
        f.node = node;
        f.change = { kind, node, {}, 0, 0, 0 };
        return f;
    };
    std::vector<Finding> found { of(Rule::Outliers, "a", RemedyKind::ExcludeNode),
        of(Rule::RangeTooSmall, "b", RemedyKind::SetRange), of(Rule::Outliers, "c", RemedyKind::ExcludeNode),
        of(Rule::Outliers, "d", RemedyKind::Calibrate), of(Rule::Outliers, "e", RemedyKind::ExcludeNode),
        of(Rule::Outliers, "f", RemedyKind::ExcludeNode) };
    found.back().places.resize(2);
    std::vector<std::vector<size_t>> members;
    for (const FindingGroup& group : findingGroups(found))
        members.push_back(group.members);
    QCOMPARE(members, (std::vector<std::vector<size_t>> { { 0, 2, 4 }, { 1 }, { 3 }, { 5 } }));
    const std::vector<Remedy> changes = changesOf(found, { { 0, 2, 4 } });
    QCOMPARE(changes.size(), size_t(3));
    QCOMPARE(changes[1].node, std::string("c"));
    QVERIFY(findingGroups({}).empty());
}

void FindingsTests::healthyPairHasNone()
{
    const Comparison c = compared(plain(), quantized(0.034f, 0.034f), normalData());
    QVERIFY2(c.findings.empty(), qPrintable(rulesOf(c)));
    const auto w = normals(72, 3);
    const std::vector<float> scale { 0.025f };
    const ConvPair pair = convPair(w, symmetricCodes(w, scale), scale);
    const Comparison conv = compared(pair.f, pair.q, pictures());
    QVERIFY2(std::ranges::none_of(conv.findings, [](const Finding& f) { return f.severity != Severity::Note; }),
        qPrintable(rulesOf(conv)));
}

void FindingsTests::rangeTooSmall()
{
    const Comparison c = compared(plain(), quantized(0.034f, 0.002f), normalData());
    const Finding* f = findingOf(c, Rule::RangeTooSmall);
    QVERIFY2(f, qPrintable(rulesOf(c)));
    QS_HELPER(verifyComplete(*f));
    QCOMPARE(f->severity, Severity::Error);
    QCOMPARE(f->tensor, std::string("a"));
    QCOMPARE(f->node, std::string("n_a"));
    QVERIFY(number(*f, "clipped_fraction") > 0.5);
    QVERIFY(std::fabs(number(*f, "range_high") - 0.254) < 1e-6);
    QVERIFY(number(*f, "data_high") > 2);
    QVERIFY(number(*f, "ideal_sqnr_db") > number(*f, "local_sqnr_db") + 20);
    QVERIFY(!findingOf(c, Rule::InputMismatch) && !findingOf(c, Rule::RangeTooLarge));
    QCOMPARE(c.findings[0].rule, Rule::RangeTooSmall);
}

void FindingsTests::slightClippingIsNoError()
{
    // A calibrator that cuts the tails beyond 2.8 sigma: no error, no warning.
    const Comparison c = compared(plain(), quantized(0.034f, 0.022f), normalData());
    QVERIFY2(std::ranges::none_of(c.findings, [](const Finding& f) { return f.severity == Severity::Error; }),
        qPrintable(rulesOf(c)));
}

void FindingsTests::rangeTooLarge()
{
    const Comparison c = compared(plain(), quantized(0.034f, 1.0f), normalData());
    const Finding* f = findingOf(c, Rule::RangeTooLarge);
    QVERIFY2(f, qPrintable(rulesOf(c)));
    QS_HELPER(verifyComplete(*f));
    QCOMPARE(f->tensor, std::string("a"));
    QVERIFY(f->severity != Severity::Note);
    QVERIFY(number(*f, "gain_db") > 25 && number(*f, "gain_db") < 40);
    QVERIFY(number(*f, "used_codes") < 0.05);
    QVERIFY(!findingOf(c, Rule::RangeTooSmall));
}

void FindingsTests::inputMismatch()
{
    const Comparison c = compared(plain(), quantized(0.002f, 0.002f), normalData());
    const Finding* f = findingOf(c, Rule::InputMismatch);
    QVERIFY2(f, qPrintable(rulesOf(c)));
    QS_HELPER(verifyComplete(*f));
    QCOMPARE(f->severity, Severity::Error);
    QCOMPARE(f->tensor, std::string("x"));
    QCOMPARE(&c.findings[0], f);
}

void FindingsTests::inputMismatchThroughReshape()
{
    const auto shape = Tensor::of<int64_t>({ 2 }, { 2, kCount / 2 });
    const Prepared f = SmallModel("f")
                           .input("x", { kCount })
                           .constant("shape", shape)
                           .node("Reshape", { "x", "shape" }, { "r" })
                           .node("Neg", { "r" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { kCount })
                           .constant("shape", shape)
                           .node("Reshape", { "x", "shape" }, { "r" })
                           .qdq<int8_t>("r", "r_dq", 0.002f, 0)
                           .node("Neg", { "r_dq" }, { "y" })
                           .output("y")
                           .finish();
    const Comparison c = compared(f, q, normalData());
    QVERIFY2(findingOf(c, Rule::InputMismatch), qPrintable(rulesOf(c)));
    QVERIFY2(!findingOf(c, Rule::RangeTooSmall), qPrintable(rulesOf(c)));
    QCOMPARE(std::ranges::count(c.findings, Rule::InputMismatch, &Finding::rule), std::ptrdiff_t(1));
}

void FindingsTests::inherited()
{
    const Comparison c = compared(plain(), quantized(0.002f, 0.034f), normalData());
    const Finding* f = findingOf(c, Rule::Inherited);
    QVERIFY2(f, qPrintable(rulesOf(c)));
    QS_HELPER(verifyComplete(*f));
    QCOMPARE(f->severity, Severity::Note);
    const auto source = std::ranges::find(f->evidence, "source", &EvidenceItem::key);
    QVERIFY(source != f->evidence.end());
    QCOMPARE(source->text, std::string("x"));
    QVERIFY(!findingOf(c, Rule::RangeTooSmall));
}

/// x -> a -> b, c = b + a: what c has of a's noise comes beside b, too, which is healthy and stands in one of the ways.
void FindingsTests::inheritedByAWayAround()
{
    const Prepared f = SmallModel("f")
                           .input("x", { kCount })
                           .node("Neg", { "x" }, { "a" })
                           .node("Neg", { "a" }, { "b" })
                           .node("Add", { "b", "a" }, { "c" })
                           .node("Neg", { "c" }, { "y" })
                           .output("y")
                           .finish();
    Comparison c;
    for (const char* name : { "a", "b", "c", "y" }) {
        ActivationRow row;
        row.name = name;
        row.floatValue = f.value(name);
        row.accumulated.sqnrDb = 10;
        row.accumulated.rmse = 1;
        row.noise.inherited = 1; // nothing else
        row.signalPower = 1;
        c.activations.push_back(row);
    }
    ActivationRow &a = c.activations[0], &b = c.activations[1];
    a.noise = { 1, 0, 0 };
    a.localSqnrDb = 10;
    a.idealSqnrDb = 40;
    b.accumulated.sqnrDb = 30;
    std::vector<Finding> found;
    findInherited(pairOf(f, f), c, found);
    QCOMPARE(found.size(), size_t(1));
    const auto source = std::ranges::find(found[0].evidence, "source", &EvidenceItem::key);
    QVERIFY(source != found[0].evidence.end());
    QCOMPARE(source->text, std::string("a"));
    QCOMPARE(number(found[0], "tensors"), 2.0); // c and y
    QCOMPARE(found[0].places.size(), size_t(2));
    QCOMPARE(found[0].places[1].tensor, std::string("y"));
    QVERIFY2(found[0].summary.starts_with("They have no quantizers"), found[0].summary.c_str());
    c.activations[3].quantizer = 0;
    found.clear();
    findInherited(pairOf(f, f), c, found);
    QVERIFY2(found[0].summary.starts_with("1 of them has a good quantizer"), found[0].summary.c_str());
}

void FindingsTests::channelImbalance()
{
    auto w = normals(72, 3);
    for (size_t i = 9; i < w.size(); ++i)
        w[i] *= 0.01f;
    const std::vector<float> scale { 0.025f };
    const ConvPair pair = convPair(w, symmetricCodes(w, scale), scale);
    const Comparison c = compared(pair.f, pair.q, pictures());
    QCOMPARE(c.weights.size(), size_t(1));
    QVERIFY(*c.weights[0].rangeRatio > 20);
    // Most of the power lies in the large channel: the whole tensor gains little, its small channels everything.
    const bool gains = *c.weights[0].perChannelSqnrDb - *c.weights[0].similarity.sqnrDb >= 6;
    QCOMPARE(findingOf(c, Rule::ChannelImbalance) != nullptr, gains);

    // Half of the channels small: the small ones fall below one step.
    auto half = normals(72, 3);
    for (size_t i = 0; i < half.size(); ++i)
        half[i] = i < 9 && i > 0 ? 0 : i == 0 ? 40.f : half[i] * 0.3f;
    const std::vector<float> wide { 40.f / 127 };
    const ConvPair worse = convPair(half, symmetricCodes(half, wide), wide);
    const Comparison c2 = compared(worse.f, worse.q, pictures());
    const Finding* f = findingOf(c2, Rule::ChannelImbalance);
    QVERIFY2(f, qPrintable(rulesOf(c2)));
    QS_HELPER(verifyComplete(*f));
    QCOMPARE(f->tensor, std::string("w"));
    QVERIFY(number(*f, "range_ratio") > 20);
    QVERIFY(number(*f, "gain_db") >= 6);

    // One scale a channel: nothing to say.
    std::vector<float> scales(8);
    for (size_t k = 0; k < 8; ++k)
        for (size_t i = 0; i < 9; ++i)
            scales[k] = std::max(scales[k], std::fabs(half[k * 9 + i]) / 127);
    const ConvPair good = convPair(half, symmetricCodes(half, scales), scales);
    QVERIFY(!findingOf(compared(good.f, good.q, pictures()), Rule::ChannelImbalance));
}

void FindingsTests::weightsDiffer()
{
    const auto w = normals(72, 3);
    const std::vector<float> scale { 0.025f };
    auto codes = symmetricCodes(w, scale);
    for (size_t i = 0; i < codes.size(); i += 3)
        codes[i] = static_cast<int8_t>(codes[i] / 2 + 5);
    const ConvPair pair = convPair(w, codes, scale);
    const Comparison c = compared(pair.f, pair.q, pictures());
    const Finding* f = findingOf(c, Rule::WeightsDiffer);
    QVERIFY2(f, qPrintable(rulesOf(c)));
    QS_HELPER(verifyComplete(*f));
    QCOMPARE(f->tensor, std::string("w"));
    QVERIFY(number(*f, "off_by_more_than_half_step") > 0.25);
    QVERIFY(!findingOf(c, Rule::ChannelImbalance));
}

/// Three layers trained on, and one of them damaged besides: one card with all three, and one of its own.
void FindingsTests::oneCauseIsOneCard()
{
    SmallModel f("f"), q("q");
    f.input("x", { 1, 1, 8, 8 });
    q.input("x", { 1, 1, 8, 8 });
    const Shape shape { 1, 1, 3, 3 };
    std::string from = "x";
    for (const std::string layer : { "1", "2", "3", "4" }) {
        const auto w = normals(9, uint32_t(layer[0]));
        std::vector<float> other = w;
        if (layer != "4")
            for (float& v : other)
                v += layer == "2" ? 0.4f : 0.2f;
        f.constant("w" + layer, Tensor::of<float>(shape, w));
        q.weight("w" + layer, shape, symmetricCodes(other, { 0.025f }), { 0.025f });
        for (SmallModel* model : { &f, &q })
            model->node(
                "Conv", { from, "w" + layer }, { "y" + layer }, { { "pads", std::vector<int64_t> { 1, 1, 1, 1 } } });
        from = "y" + layer;
    }
    const Comparison c = compared(f.output(from).finish(), q.output(from).finish(), pictures());
    QCOMPARE(std::ranges::count(c.findings, Rule::WeightsDiffer, &Finding::rule), 1);
    const Finding& card = *findingOf(c, Rule::WeightsDiffer);
    QS_HELPER(verifyComplete(card));
    QCOMPARE(card.tensor, std::string("w2")); // the worst
    QCOMPARE(card.title, std::string("3 layers have other weights"));
    QCOMPARE(card.places.size(), size_t(3));
    QCOMPARE(card.places.front().tensor, std::string("w2"));
    for (const FindingPlace& place : card.places) {
        QVERIFY(place.weight && c.weights[*place.weight].name == place.tensor);
        QVERIFY(std::ranges::count(place.evidence, "off_by_more_than_half_step", &EvidenceItem::key) == 1);
    }
    QCOMPARE(number(card, "places"), 3.0);
    QCOMPARE(changesOf(card).size(), size_t(1)); // no recipe mends it
}

void FindingsTests::rangesBehindTheInput_data()
{
    QTest::addColumn<float>("narrower");
    QTest::newRow("each cuts off half of what passed the last one") << 2.f;
    QTest::newRow("they are as wrong where the input has cut all that they would") << 0.98f;
}

/// What was found with data that do not fit the input is one thing to mend, by the same remedy.
void FindingsTests::rangesBehindTheInput()
{
    QFETCH(float, narrower);
    SmallModel f("f"), q("q");
    f.input("x", { kCount });
    q.input("x", { kCount }).qdq<int8_t>("x", "x_dq", 0.004f, 0);
    std::string from = "x";
    float scale = 0.004f;
    for (const std::string value : { "a", "b", "c" }) {
        scale /= narrower;
        f.node("Neg", { from }, { value });
        q.node("Neg", { from + "_dq" }, { value }).qdq<int8_t>(value, value + "_dq", scale, 0);
        from = value;
    }
    const Comparison c = compared(f.node("Neg", { "c" }, { "y" }).output("y").finish(),
        q.node("Neg", { "c_dq" }, { "y" }).output("y").finish(), normalData());
    QCOMPARE(c.findings.front().rule, Rule::InputMismatch);
    QCOMPARE(std::ranges::count(c.findings, Rule::RangeTooSmall, &Finding::rule), 1);
    const Finding& card = *findingOf(c, Rule::RangeTooSmall);
    QCOMPARE(card.places.size(), size_t(3));
    QVERIFY(number(card, "float_clipped_fraction") > 0.5);
    QVERIFY((number(card, "clipped_fraction") > 0.1) == (narrower > 1));
    const bool tellsBoth = card.summary.find("of the float model's values lie beyond the range; of the quantized "
                                             "model's own, 0 % are clipped")
        != std::string::npos;
    QVERIFY2(tellsBoth == (narrower < 1), card.summary.c_str());
    QCOMPARE(changesOf(card), (std::vector<Remedy> { c.findings.front().change }));
    // Each range alone would be a change of its own.
    const Comparison alone = compared(plain(), quantized(0.034f, 0.002f), normalData());
    QCOMPARE(changesOf(alone.findings.front()), (std::vector<Remedy> { alone.findings.front().change }));
    QCOMPARE(placesOf(alone.findings.front()).front().tensor, std::string("a"));
}

void FindingsTests::unmatched()
{
    const Prepared f = SmallModel("f")
                           .input("x", { kCount })
                           .node("Sigmoid", { "x" }, { "a" })
                           .node("Exp", { "a" }, { "b" })
                           .node("Neg", { "b" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { kCount })
                           .node("Sigmoid", { "x" }, { "a" })
                           .node("Tanh", { "a" }, { "t" })
                           .node("Neg", { "t" }, { "y" })
                           .output("y")
                           .finish();
    const Comparison c = compared(f, q, normalData());
    const Finding* found = findingOf(c, Rule::Unmatched);
    QVERIFY2(found, qPrintable(rulesOf(c)));
    QS_HELPER(verifyComplete(*found));
    QCOMPARE(found->severity, Severity::Note);
    QCOMPARE(found->tensor, std::string("b"));
    QCOMPARE(number(*found, "float"), 1.0);
    QCOMPARE(number(*found, "quantized"), 1.0);
}

void FindingsTests::adviceWhereAllSamplesErr_data()
{
    QTest::addColumn<bool>("activations"); ///< are quantized, too
    QTest::addColumn<std::string>("cause"); ///< of a finding on weights; empty: none
    QTest::addColumn<bool>("weights"); ///< are what to mend
    QTest::newRow("weights alone") << false << std::string() << true;
    QTest::newRow("activations, too") << true << std::string() << false;
    QTest::newRow("these add less than the weights") << true << std::string("costly") << true;
    QTest::newRow("one weight is coarse beside them") << true << std::string("other") << false;
}

void FindingsTests::adviceWhereAllSamplesErr()
{
    QFETCH(bool, activations);
    QFETCH(std::string, cause);
    QFETCH(bool, weights);
    Comparison c = compared(plain(), quantized(0.034f, 0.034f), normalData());
    QVERIFY(!c.outputs.empty());
    if (!activations)
        c.activations.clear();
    c.weights.resize(1);
    c.outputs.front().sampleNoise.assign(10, 1.0);
    c.outputs.front().similarity.sqnrDb = 20;
    std::vector<Finding> found;
    if (!cause.empty()) {
        found.push_back(makeFinding(Rule::WeightsTooCoarse));
        found.back().cause = cause;
    }
    findSampleSpread(c, found);
    QVERIFY(!found.empty() && found.back().rule == Rule::DataInsensitive);
    QCOMPARE(found.back().remedy.starts_with("Store the weights finer"), weights);
}

void FindingsTests::mostSevereFirst()
{
    const Comparison c = compared(plain(), quantized(0.002f, 0.034f), normalData());
    QVERIFY(c.findings.size() > 1);
    for (size_t i = 1; i < c.findings.size(); ++i)
        QVERIFY(c.findings[i - 1].severity < c.findings[i].severity
            || (c.findings[i - 1].severity == c.findings[i].severity && c.findings[i - 1].rank >= c.findings[i].rank));
    QCOMPARE(severityName(Severity::Error), std::string_view("error"));
}

int qs::test::runFindingsTests(int argc, char** argv)
{
    FindingsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "findings_test.moc"
