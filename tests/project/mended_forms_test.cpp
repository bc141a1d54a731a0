// SPDX-License-Identifier: GPL-3.0-or-later
// What files hold that no recipe writes: codes that leave a file and come back into it, and weights of experts.
#include "core/project/mend/mended_file.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"
#include "tests/analysis/products.h"
#include "tests/project/remedies.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr const char *kPast = "past_key_values.0.key", *kPresent = "present.0.key";

/// past -> Mul -> present; in the other file its codes are written, and the past is read by `readScale`.
Prepared cache(bool codes, float readScale = 0)
{
    SmallModel m(codes ? "q" : "f");
    m.input(kPast, { 1, 4, 8 }).constant("w", Tensor::scalar(0.9f));
    if (codes)
        m.qdq<int8_t>(kPast, "read", readScale, 0);
    m.node("Mul", { codes ? "read" : kPast, "w" }, { codes ? "now" : kPresent });
    if (codes)
        m.constant("scale", Tensor::scalar(0.01f))
            .constant("zero", Tensor::scalar<int8_t>(0))
            .node("QuantizeLinear", { "now", "scale", "zero" }, { kPresent });
    return m.node("Neg", { codes ? "now" : kPresent }, { "y" }).output("y").output(kPresent).finish();
}

/// Of the QuantizeLinear or DequantizeLinear that makes the value.
float scaleBehind(const GraphDraft& draft, const std::string& made)
{
    const auto node
        = std::ranges::find_if(draft.nodes, [&](const DraftNode& n) { return n.hasOutput(0) && n.outputs[0] == made; });
    return node == draft.nodes.end() ? 0 : toFloats(*draft.constant(node->inputs[1]))[0];
}

/// x -> Neg -> a, read by two nodes, in the other file by a pair each with scales of their own.
Prepared siblings(bool codes)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 4, 8 }).node("Neg", { "x" }, { "a" });
    if (codes) {
        m.constant("s1", Tensor::scalar(0.03f)).constant("s2", Tensor::scalar(0.004f));
        m.constant("z", Tensor::scalar<int8_t>(0)).node("QuantizeLinear", { "a", "s1", "z" }, { "c1" });
        m.node("DequantizeLinear", { "c1", "s1", "z" }, { "a1" }).node("QuantizeLinear", { "a", "s2", "z" }, { "c2" });
        m.node("DequantizeLinear", { "c2", "s2", "z" }, { "a2" });
    }
    m.node("Tanh", { codes ? "a1" : "a" }, { "t" }).node("Abs", { codes ? "a2" : "a" }, { "b" });
    return m.node("Add", { "t", "b" }, { "y" }).output("y").finish();
}

constexpr int64_t kWidth = 32, kExperts = 2;

/// x -> MatMulInteger -> y, the codes of x read with their zero point or with another one.
Prepared sums(bool codes, bool computed, bool other)
{
    const std::vector<float> w = normals(kWidth * 8, 5);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 8, kWidth });
    if (!codes)
        return m.constant("w", Tensor::of<float>({ kWidth, 8 }, w))
            .node("MatMul", { "x", "w" }, { "y" })
            .output("y")
            .finish();
    m.constant("w_codes", Tensor::of<int8_t>({ kWidth, 8 }, symmetricCodes(w, { 0.03f })));
    m.constant("w_scale", Tensor::scalar(0.03f)).constant("s", Tensor::scalar(0.03f));
    m.constant("z", Tensor::scalar(uint8_t(128))).constant("other", Tensor::scalar(uint8_t(90)));
    if (computed)
        m.node("DynamicQuantizeLinear", { "x" }, { "c", "c_scale", "c_zero" });
    else
        m.node("QuantizeLinear", { "x", "s", "z" }, { "c" });
    m.node("MatMulInteger", { "c", "w_codes", other ? "other" : computed ? "c_zero" : "z" }, { "sums" });
    m.node("Cast", { "sums" }, { "real" }, { { "to", int64_t(1) } });
    m.node("Mul", { computed ? "c_scale" : "s", "w_scale" }, { "scale" });
    return m.node("Mul", { "real", "scale" }, { "y" }).output("y").finish();
}

/// x -> experts of one product and another -> y, the codes of the first one row further in the other file.
Prepared experts(bool codes)
{
    const size_t count = kExperts * kWidth * kWidth;
    std::vector<uint8_t> bytes;
    std::vector<float> weights, none(kExperts);
    for (const float w : normals(int(count), 5)) {
        bytes.push_back(uint8_t(128 + std::clamp(std::lround(40 * w), -127L, 127L)));
        weights.push_back(0.005f * float(int(bytes.back()) - 128));
    }
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 8, kWidth }).constant("r", Tensor::of<float>({ kWidth, kExperts }, normals(kWidth * kExperts, 6)));
    m.node("MatMul", { "x", "r" }, { "p" });
    if (!codes) {
        m.constant("w", Tensor::of<float>({ kExperts, kWidth, kWidth }, weights));
        m.node("MoE", { "x", "p", "w", "", "w" }, { "m" }, { { "normalize_routing_weights", int64_t(1) } },
            "com.microsoft");
    } else {
        m.constant("s", Tensor::of<float>({ kExperts, kWidth }, std::vector<float>(kExperts * kWidth, 0.005f)));
        m.constant("v", Tensor::of<uint8_t>({ kExperts, kWidth, kWidth }, bytes));
        std::ranges::rotate(bytes, bytes.begin() + kWidth);
        m.constant("w", Tensor::of<uint8_t>({ kExperts, kWidth, kWidth }, bytes));
        m.node("QMoE", { "x", "p", "w", "s", "", "v", "s" }, { "m" }, { { "expert_weight_bits", int64_t(8) } },
            "com.microsoft");
    }
    return m.node("Neg", { "m" }, { "y" }).output("y").finish();
}

/// x -> product with a weight of few bits, behind a Clip or in a type of its own -> y.
Prepared fewBits(bool codes, bool packed)
{
    const std::vector<float> w = normals(kWidth * kWidth, 8);
    SmallModel m(codes ? "q" : "f");
    m.opset(21).input("x", { 8, kWidth });
    if (!codes)
        return m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w))
            .node("MatMul", { "x", "w" }, { "y" })
            .output("y")
            .finish();
    const float scale = packed ? 0.4f : 0.8f; // of all codes
    const long lowest = packed ? -8 : -4;
    std::vector<int32_t> rounded;
    for (const float v : w)
        rounded.push_back(int32_t(std::clamp(std::lround(v / scale), lowest, -lowest - 1)));
    const DType type = packed ? DType::Int4 : DType::Int8;
    m.constant("c", codeTensor(type, { kWidth, kWidth }, rounded)).constant("s", Tensor::scalar(scale));
    m.constant("z", codeTensor(type, {}, std::vector<int32_t> { 0 }));
    m.constant("lo", Tensor::scalar<int8_t>(-4)).constant("hi", Tensor::scalar<int8_t>(3));
    if (!packed)
        m.node("Clip", { "c", "lo", "hi" }, { "few" });
    m.node("DequantizeLinear", { packed ? "c" : "few", "s", "z" }, { "d" });
    return m.node("MatMul", { "x", "d" }, { "y" }).output("y").finish();
}

/// x -> two products -> Mul each -> Add -> y, with one scale a weight, in which all columns but the first are small: to
/// leave one node in float mends half of it.
Prepared unequalColumns(bool codes)
{
    constexpr int64_t kIn = 16, kOut = 8;
    constexpr float kLarge = 100;
    SmallModel m(codes ? "q" : "f");
    std::vector<float> factors(size_t(kOut), 1.f);
    factors[0] = 1 / kLarge;
    m.input("x", { 8, kIn }).constant("factors", Tensor::of<float>({ kOut }, factors));
    if (codes)
        m.qdq<int8_t>("x", "x_dq", 4.f / 127, 0);
    for (const std::string& n : { std::string("1"), std::string("2") }) {
        std::vector<float> w = normals(int(kIn * kOut), n == "1" ? 5 : 6);
        for (size_t row = 0; row < size_t(kIn); ++row)
            w[row * size_t(kOut)] *= kLarge;
        const float scale = std::max(-std::ranges::min(w), std::ranges::max(w)) / 127;
        if (codes)
            m.weight("w" + n, { kIn, kOut }, symmetricCodes(w, { scale }), { scale });
        else
            m.constant("w" + n, Tensor::of<float>({ kIn, kOut }, w));
        m.node("MatMul", { codes ? "x_dq" : "x", "w" + n }, { "m" + n });
        m.node("Mul", { "m" + n, "factors" }, { "s" + n });
    }
    return m.node("Add", { "s1", "s2" }, { "y" }).output("y").finish();
}

/// Names of inputs and outputs, and operators of ONNX Runtime on the way from the first to the first.
Prepared withParts(const QStringList& inputs, const QStringList& outputs, const QStringList& operators)
{
    SmallModel m("parts");
    for (const QString& name : inputs)
        m.input(name.toStdString(), { 4 });
    std::string at = inputs[0].toStdString();
    for (qsizetype i = 0; i < operators.size(); ++i) {
        const std::string next = "v" + std::to_string(i);
        m.node(operators[i].toStdString(), { at }, { next }, {}, "com.microsoft");
        at = next;
    }
    for (const QString& name : outputs)
        m.node("Neg", { at }, { name.toStdString() }).output(name.toStdString());
    return m.finish();
}

} // namespace

class MendedFormsTests : public QObject {
    Q_OBJECT
private slots:
    void lacking_data()
    {
        QTest::addColumn<QStringList>("inputs"); // of what takes the file's place
        QTest::addColumn<QStringList>("outputs");
        QTest::addColumn<QStringList>("operators");
        QTest::addColumn<QString>("told");
        const QStringList in { "x", "past.0", "past.1", "past.2" }, out { "y", "present" }, ops { "A", "B", "B" };
        QTest::newRow("nothing") << in << out << ops << QString();
        QTest::newRow("fewer of one operator") << in << out << QStringList { "B", "A" } << QString();
        QTest::newRow("an operator") << in << out << QStringList { "A" } << QString("the operator B");
        QTest::newRow("an output") << in << QStringList { "y" } << ops << QString("the output present");
        QTest::newRow("all") << QStringList { "x" } << QStringList { "y" } << QStringList()
                             << QString("the inputs past.0, past.1 and 1 more, the output present, the operators A, B");
    }
    /// What a model that is written in place of a file has not.
    void lacking()
    {
        QFETCH(QStringList, inputs);
        QFETCH(QStringList, outputs);
        QFETCH(QStringList, operators);
        QFETCH(QString, told);
        const Prepared file = withParts({ "x", "past.0", "past.1", "past.2" }, { "y", "present" }, { "A", "B", "B" });
        const Prepared mended = withParts(inputs, outputs, operators);
        const GraphDraft draft(std::make_shared<const Model>(mended.plan->model()));
        QCOMPARE(QString::fromStdString(lackingParts(file.graph(), draft)), told);
    }

    /// One operator of the float model is two in the file, with a quantizer between: in float, it has none.
    void stepsOfOneOperator()
    {
        SmallModel whole("f"), steps("q");
        whole.input("x", { 64 }).constant("four", Tensor::of<float>({ 1 }, { 4 }));
        const Prepared f = whole.node("Mul", { "x", "four" }, { "y" }).output("y").finish();
        steps.input("x", { 64 }).constant("two", Tensor::of<float>({ 1 }, { 2 }));
        steps.node("Mul", { "x", "two" }, { "h" }).qdq<int8_t>("h", "h_read", 1.f / 127, 0);
        const Prepared q = steps.node("Mul", { "h_read", "two" }, { "y" }).output("y").finish();
        const PlantedPair files { std::shared_ptr<const Model>(f.plan, &f.plan->model()),
            std::shared_ptr<const Model>(q.plan, &q.plan->model()),
            std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 64 }, normals(64, 3)) }) };
        auto now = std::make_shared<Snapshot>(*snapshotOf(files));
        Alignment alignment = *now->alignment;
        alignment.insideQuant = { { now->quantModel->graph().findValue("h"), NodeId(0) } };
        now->alignment = std::make_shared<const Alignment>(std::move(alignment));
        QVERIFY(outputDb(*now) < 20);
        QVERIFY(mendedDb(files, now, { { RemedyKind::ExcludeNode, "n_y", {}, 0, 0, 0 } }) > 100);
    }

    void ends_data()
    {
        QTest::addColumn<float>("readScale");
        QTest::addColumn<bool>("together");
        QTest::newRow("one scale") << 0.01f << true;
        QTest::newRow("scales of their own") << 0.05f << false;
    }
    void ends()
    {
        QFETCH(const float, readScale);
        QFETCH(const bool, together);
        const Prepared f = cache(false), q = cache(true, readScale);
        const PlantedPair files { std::shared_ptr<const Model>(f.plan, &f.plan->model()),
            std::shared_ptr<const Model>(q.plan, &q.plan->model()),
            std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 1, 4, 8 }, normals(32, 3)) }) };
        const auto draft
            = mendedFile(*snapshotOf(files), std::vector<Remedy> { { RemedyKind::SetRange, {}, kPresent, -4, 4, 0 } });
        QVERIFY2(draft.ok(), draft.ok() ? "" : issueText(draft.issue()).c_str());
        QVERIFY(std::abs(scaleBehind(*draft, kPresent) - 4 / 127.f) < 1e-3f);
        const float read = scaleBehind(*draft, "read");
        QVERIFY2(std::abs(read - (together ? 4 / 127.f : readScale)) < 1e-3f, qPrintable(QString::number(read)));
    }

    /// A range is one of the tensor, whoever reads it.
    void rangesOfSiblings()
    {
        const Prepared f = siblings(false), q = siblings(true);
        const PlantedPair files { std::shared_ptr<const Model>(f.plan, &f.plan->model()),
            std::shared_ptr<const Model>(q.plan, &q.plan->model()),
            std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 4, 8 }, normals(32, 3)) }) };
        const auto draft
            = mendedFile(*snapshotOf(files), std::vector<Remedy> { { RemedyKind::SetRange, {}, "a", -4, 4, 0 } });
        QVERIFY2(draft.ok(), draft.ok() ? "" : issueText(draft.issue()).c_str());
        for (const char* made : { "c1", "a1", "c2", "a2" })
            QVERIFY2(std::abs(scaleBehind(*draft, made) - 4 / 127.f) < 1e-3f, made);
    }

    void fewBitsBecomeEight_data()
    {
        QTest::addColumn<bool>("packed");
        QTest::newRow("behind a Clip") << false;
        QTest::newRow("four bits a code") << true;
    }
    /// The remedy that its finding names is tried, and is what it offers.
    void fewBitsBecomeEight()
    {
        QFETCH(const bool, packed);
        const Prepared f = fewBits(false, packed), q = fewBits(true, packed);
        const PlantedPair files { std::shared_ptr<const Model>(f.plan, &f.plan->model()),
            std::shared_ptr<const Model>(q.plan, &q.plan->model()),
            std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 8, kWidth }, normals(8 * kWidth, 3)) }) };
        const SnapshotPtr now = snapshotOf(files), after = tried(now, 4);
        const Finding* found = findingOf(*after->comparison, Rule::WeightsTooCoarse);
        QVERIFY2(found, qPrintable(rulesOf(*after->comparison)));
        QVERIFY2(found->change.kind == RemedyKind::EightBitWeight && found->measuredGainDb.value_or(0) > 20,
            qPrintable(QString::fromStdString(found->remedy)));
        const double made = mendedDb(files, now, { found->change }) - outputDb(*now);
        QVERIFY2(std::abs(made - *found->measuredGainDb) < 0.1, qPrintable(QString::number(made)));
    }

    void zeroPointsOfSums_data()
    {
        QTest::addColumn<bool>("computed");
        QTest::newRow("written with a constant one") << false;
        QTest::newRow("written with a computed one") << true;
    }
    /// The product reads the zero point that its codes were written with; a range cannot be set, since the scale is
    /// multiplied in behind the sums.
    void zeroPointsOfSums()
    {
        QFETCH(bool, computed);
        const Prepared f = sums(false, false, false), q = sums(true, computed, true),
                       right = sums(true, computed, false);
        const auto data
            = std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 8, kWidth }, normals(8 * kWidth, 3)) });
        const auto filesOf = [&](const Prepared& quantized) {
            return PlantedPair { std::shared_ptr<const Model>(f.plan, &f.plan->model()),
                std::shared_ptr<const Model>(quantized.plan, &quantized.plan->model()), data };
        };
        const SnapshotPtr now = snapshotOf(filesOf(q)), after = tried(now, 4);
        const Finding* found = findingOf(*after->comparison, Rule::WrongZeroPoint);
        QVERIFY2(found && found->change.kind == RemedyKind::Requantize, qPrintable(rulesOf(*after->comparison)));
        const double gain = outputDb(*snapshotOf(filesOf(right))) - outputDb(*now);
        QVERIFY2(
            gain > 10 && std::abs(found->measuredGainDb.value_or(0) - gain) < 0.1, qPrintable(QString::number(gain)));
        QVERIFY(!mendedFile(*now, { { { RemedyKind::SetRange, {}, "x", -1, 1, 0 } } }).ok());
    }

    void causesThatStay_data()
    {
        QTest::addColumn<int>("rule");
        QTest::addColumn<int>("own"); // remedy
        QTest::addColumn<bool>("given"); // what mends the weight, which is another cause
        QTest::newRow("a bias") << int(Rule::WrongBiasScale) << int(RemedyKind::Requantize) << false;
        QTest::newRow("a range") << int(Rule::RangeTooLarge) << int(RemedyKind::SetRange) << true;
    }
    /// What gains most and mends something else is not the remedy of a bias, and of a range it is said.
    void causesThatStay()
    {
        QFETCH(int, rule);
        QFETCH(int, own);
        QFETCH(bool, given);
        const Prepared f = unequalColumns(false), q = unequalColumns(true);
        const PlantedPair files { std::shared_ptr<const Model>(f.plan, &f.plan->model()),
            std::shared_ptr<const Model>(q.plan, &q.plan->model()),
            std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 8, 16 }, normals(128, 3)) }) };
        auto s = std::make_shared<Snapshot>(*snapshotOf(files));
        Finding told = makeFinding(Rule(rule), "x");
        told.severity = Severity::Warning;
        told.tensor = "x";
        told.change = { RemedyKind(own), {}, rule == int(Rule::RangeTooLarge) ? "x" : "elsewhere", -4, 4, 0 };
        s->comparison->findings = { told };
        const SnapshotPtr after = tried(s);
        QCOMPARE(after->comparison->findings.size(), size_t(1));
        const Finding& now = after->comparison->findings[0];
        QVERIFY2((now.change.kind == RemedyKind::PerChannel) == given, now.remedy.c_str());
        QCOMPARE(now.remedy.find("does not mend what is told here") != std::string::npos, given);
    }

    /// Where trials measure that scales a channel bring back much at a poor output, they are no mere note.
    void scalesThatMendAreNoNote()
    {
        const Prepared f = unequalColumns(false), q = unequalColumns(true);
        const PlantedPair files { std::shared_ptr<const Model>(f.plan, &f.plan->model()),
            std::shared_ptr<const Model>(q.plan, &q.plan->model()),
            std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 8, 16 }, normals(128, 3)) }) };
        auto s = std::make_shared<Snapshot>(*snapshotOf(files));
        Finding told = makeFinding(Rule::ChannelImbalance, "w1");
        told.change = { RemedyKind::PerChannel, {}, {}, 0, 0, 0 };
        s->comparison->findings = { told };
        QCOMPARE(told.severity, Severity::Note);
        QVERIFY2(outputDb(*s) < 35, qPrintable(QString::number(outputDb(*s))));
        const SnapshotPtr after = tried(s);
        QCOMPARE(after->comparison->findings.size(), size_t(1));
        const Finding& now = after->comparison->findings[0];
        QVERIFY2(now.measuredGainDb.value_or(0) > 3 && now.severity == Severity::Warning, now.remedy.c_str());
    }

    /// A recipe leaves them in float: that is no measure of writing them anew.
    void expertsAreNotMeasuredInFloat()
    {
        const Prepared f = experts(false), q = experts(true);
        const PlantedPair files { std::shared_ptr<const Model>(f.plan, &f.plan->model()),
            std::shared_ptr<const Model>(q.plan, &q.plan->model()),
            std::make_shared<FixedData>(std::vector { Tensor::of<float>({ 8, kWidth }, normals(8 * kWidth, 3)) }) };
        const SnapshotPtr now = snapshotOf(files), after = tried(now, 4);
        QVERIFY2(findingOf(*now->comparison, Rule::WeightsDiffer), qPrintable(rulesOf(*now->comparison)));
        for (const Finding& finding : after->comparison->findings)
            QVERIFY2(!finding.measuredGainDb || finding.triedInFile, qPrintable(rulesOf(*after->comparison)));
    }
};

QTEST_GUILESS_MAIN(MendedFormsTests)
#include "mended_forms_test.moc"
