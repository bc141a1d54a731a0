// SPDX-License-Identifier: GPL-3.0-or-later
// Operators that only move elements, by parameters that codes have changed.
#include "tests/analysis/comparing.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr float kFine = 10.f / 65535; // steps of 16 bits
constexpr int64_t kSide = 16;

/// x -> Neg -> a -> Resize by 2 -> y; the scales in float, or as codes of `step`.
Prepared resized(bool codes, std::optional<float> step, const std::string& mode)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 1, 1, 1, kSide }).node("Neg", { "x" }, { "a" });
    if (codes)
        m.qdq<uint16_t>("a", "a_dq", kFine, 32768);
    const std::vector<float> scales { 1, 1, 1, 2 };
    if (step) {
        std::vector<uint16_t> stored;
        for (const float s : scales)
            stored.push_back(uint16_t(std::lround(s / *step)));
        m.constant("scales_quantized", Tensor::of<uint16_t>({ 4 }, stored))
            .constant("scales_scale", Tensor::scalar(*step))
            .constant("scales_zero", Tensor::scalar<uint16_t>(0))
            .node("DequantizeLinear", { "scales_quantized", "scales_scale", "scales_zero" }, { "scales" });
    } else {
        m.constant("scales", Tensor::of<float>({ 4 }, scales));
    }
    m.node("Resize", { codes ? "a_dq" : "a", "", "scales" }, { "r" },
        { { "mode", mode }, { "coordinate_transformation_mode", std::string("asymmetric") },
            { "nearest_mode", std::string("floor") } });
    if (codes)
        m.qdq<uint16_t>("r", "r_dq", kFine, 32768);
    return m.node("Neg", { codes ? "r_dq" : "r" }, { "y" }).output("y").finish();
}

/// x -> Gather of the largest elements' places -> y. `noise`: what the other file adds before it looks for them.
Prepared gathered(bool codes, float step)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kSide }).constant("k", Tensor::of<int64_t>({ 1 }, { kSide / 2 }));
    m.node("Neg", { "x" }, { "a" });
    if (codes)
        m.qdq<uint16_t>("a", "a_dq", kFine, 32768).qdq<uint8_t>("a_dq", "c", step, 128);
    else
        m.node("Identity", { "a" }, { "c" });
    m.node("TopK", { "c", "k" }, { "largest", "places" });
    return m.node("Gather", { codes ? "a_dq" : "a", "places" }, { "y" }).output("y").finish();
}

/// The first half of a tensor is far smaller than the rest.
Prepared sliced(bool codes)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 2, kSide }).constant("sizes", Tensor::of<float>({ 2, 1 }, { 0.01f, 1 }));
    m.constant("from", Tensor::of<int64_t>({ 1 }, { 0 })).constant("to", Tensor::of<int64_t>({ 1 }, { 1 }));
    m.node("Mul", { "x", "sizes" }, { "a" });
    if (codes)
        m.qdq<uint8_t>("a", "a_dq", 8.f / 255, 128);
    m.node("Slice", { codes ? "a_dq" : "a", "from", "to" }, { "s" });
    return m.node("Neg", { "s" }, { "y" })
        .node("Abs", { codes ? "a_dq" : "a" }, { "z" })
        .output("y")
        .output("z")
        .finish();
}

/// Two values one behind the other, both as codes; the second is read by `scale` in place of `kCoarse`.
constexpr float kCoarse = 8.f / 255;
Prepared joined(bool codes, float scale)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 2, kSide }).node("Neg", { "x" }, { "a" }).node("Abs", { "x" }, { "b" });
    if (!codes) {
        m.node("Concat", { "a", "b" }, { "j" }, { { "axis", int64_t(0) } });
        return m.node("Neg", { "j" }, { "y" }).output("y").finish();
    }
    m.constant("s", Tensor::scalar(kCoarse)).constant("z", Tensor::scalar(uint8_t(128)));
    m.constant("s2", Tensor::scalar(scale));
    for (const std::string name : { "a", "b" })
        m.node("QuantizeLinear", { name, "s", "z" }, { name + "_QuantizeLinear_Output" });
    m.node("QLinearConcat", { "s", "z", "a_QuantizeLinear_Output", "s", "z", "b_QuantizeLinear_Output", "s2", "z" },
         { "j_quantized" }, { { "axis", int64_t(0) } }, "com.microsoft")
        .node("DequantizeLinear", { "j_quantized", "s", "z" }, { "j" });
    return m.node("Neg", { "j" }, { "y" }).output("y").finish();
}

/// x -> some types one behind the other -> Slice or Pad -> Neg -> y.
Prepared castAndMoved(const std::vector<DType>& types, const std::string& moving)
{
    SmallModel m(types.empty() ? "f" : "q");
    m.input("x", { 2, kSide }).constant("from", Tensor::of<int64_t>({ 1 }, { 1 }));
    m.constant("to", Tensor::of<int64_t>({ 1 }, { 2 })).constant("pads", Tensor::of<int64_t>({ 4 }, { 0, 2, 0, 2 }));
    std::string at = "x";
    for (size_t i = 0; i < types.size(); ++i) {
        const std::string next = "cast" + std::to_string(i);
        m.node("Cast", { at }, { next }, { { "to", int64_t(types[i]) } });
        at = next;
    }
    if (moving == "Slice")
        m.node("Slice", { at, "from", "to" }, { "s" });
    else
        m.node("Pad", { at, "pads" }, { "s" }, { { "mode", std::string("reflect") } });
    m.node("Neg", { "s" }, { "n" });
    if (types.empty() || types.back() == DType::Float32)
        return m.node("Identity", { "n" }, { "y" }).output("y").finish();
    return m.node("Cast", { "n" }, { "y" }, { { "to", int64_t(DType::Float32) } }).output("y").finish();
}

constexpr float kTableStep = 6.f / 255;
constexpr int64_t kRows = 8, kColumns = 4;

/// Rows of a table, moved by these operators one behind the other, and what is made of them. In the other file the
/// table stands in codes, which `reader` takes for numbers behind all of that; `lost`: all of these are zero.
Prepared movedRows(const std::vector<std::string>& moves, const std::string& reader, bool lost)
{
    const bool coded = !reader.empty();
    const std::vector<float> table = normals(kRows * kColumns, 5);
    SmallModel m(coded ? "q" : "f");
    m.input("ids", { kColumns }, DType::Int64);
    if (coded)
        m.constant("table_quantized",
             Tensor::of<int8_t>({ kRows, kColumns },
                 lost ? std::vector<int8_t>(table.size(), 0) : symmetricCodes(table, { kTableStep })))
            .constant("s", Tensor::scalar(kTableStep))
            .constant("z", Tensor::scalar<int8_t>(0));
    else
        m.constant("table", Tensor::of<float>({ kRows, kColumns }, table));
    m.constant("whole", Tensor::of<int64_t>({ 2 }, { kColumns, kColumns }))
        .constant("axes", Tensor::of<int64_t>({ 1 }, { 0 }))
        .constant("from", Tensor::of<int64_t>({ 1 }, { 1 }))
        .constant("to", Tensor::of<int64_t>({ 1 }, { 3 }));
    const std::string tail = coded ? "_quantized" : "";
    std::string at = "table" + tail, parts;
    for (const std::string& move : moves) {
        const std::string next = move + tail;
        if (move == "Gather")
            m.node(move, { at, "ids" }, { next });
        else if (move == "Transpose")
            m.node(move, { at }, { next }, { { "perm", std::vector<int64_t> { 1, 0 } } });
        else if (move == "Slice")
            m.node(move, { at, "from", "to" }, { next });
        else if (move == "Split")
            m.node(move, { at }, { next, parts = "rest" + tail }, { { "num_outputs", int64_t(2) } });
        else
            m.node(move, { at, move == "Reshape" ? "whole" : "axes" }, { next });
        at = next;
    }
    if (reader == "QLinearAdd") {
        m.constant("s2", Tensor::scalar(2 * kTableStep));
        m.node(reader, { at, "s", "z", at, "s", "z", "s2", "z" }, { "sum_quantized" }, {}, "com.microsoft")
            .node("DequantizeLinear", { "sum_quantized", "s2", "z" }, { "sum" });
    } else {
        std::string other = parts.empty() ? at : parts;
        if (coded) {
            m.node("DequantizeLinear", { at, "s", "z" }, { at + "_dq" });
            if (other != at)
                m.node("DequantizeLinear", { other, "s", "z" }, { other + "_dq" });
            at += "_dq";
            other += "_dq";
        }
        m.node("Add", { at, other }, { "sum" });
    }
    return m.node("Neg", { "sum" }, { "y" }).output("y").finish();
}

constexpr int64_t kTurned = 24; ///< rows and columns: scales that are found anew are fine enough

/// x -> Neg -> a, moved by these operators one behind the other -> MatMul, or another operator -> y. In the other file
/// a's codes are moved, whose scale is found while it runs, and `reader` reads them with that.
Prepared movedWhileRunning(const std::vector<std::string>& moves, const std::string& reader, const std::string& behind)
{
    const bool coded = !reader.empty();
    SmallModel m(coded ? "q" : "f");
    m.input("x", { kTurned, kTurned }).node("Neg", { "x" }, { "a" });
    if (coded)
        m.node("DynamicQuantizeLinear", { "a" }, { "a_quantized", "s", "z" });
    m.constant("from", Tensor::of<int64_t>({ 1 }, { 1 }))
        .constant("to", Tensor::of<int64_t>({ 1 }, { kTurned }))
        .constant("sizes", Tensor::of<int64_t>({ 2 }, { -1, kTurned }));
    const std::string tail = coded ? "_quantized" : "";
    std::string at = "a" + tail;
    for (const std::string& move : moves) {
        const std::string next = move + tail;
        if (move == "Transpose")
            m.node(move, { at }, { next }, { { "perm", std::vector<int64_t> { 1, 0 } } });
        else if (move == "Slice")
            m.node(move, { at, "from", "to" }, { next });
        else
            m.node(move, { at, "sizes" }, { next });
        at = next;
    }
    const std::vector<float> w = normals(kTurned * kTurned, 5);
    const std::vector<float> step { 6.f / 255 };
    if (reader == "MatMulInteger") {
        m.constant("w_quantized", Tensor::of<int8_t>({ kTurned, kTurned }, symmetricCodes(w, step)))
            .constant("w_scale", Tensor::scalar(step[0]))
            .node("Mul", { "s", "w_scale" }, { "scales" })
            .node(reader, { at, "w_quantized", "z" }, { "sums" })
            .node("Cast", { "sums" }, { "real_sums" }, { { "to", int64_t(DType::Float32) } })
            .node("Mul", { "real_sums", "scales" }, { "p" });
    } else {
        if (coded)
            m.node(reader, { at, "s", "z" }, { at + "_dq" });
        m.constant("w", Tensor::of<float>({ kTurned, kTurned }, w))
            .node("MatMul", { coded ? at + "_dq" : at, "w" }, { "p" });
    }
    return m.node(behind, { "p" }, { "y" }).output("y").finish();
}

FixedData feed(const Shape& shape)
{
    size_t count = 1;
    for (const int64_t size : shape)
        count *= size_t(size);
    return FixedData({ Tensor::of<float>(shape, normals(count, 7)) });
}

} // namespace

class MovedElementsTests : public QObject {
    Q_OBJECT
private slots:
    void parameters_data()
    {
        QTest::addColumn<std::string>("mode");
        QTest::addColumn<float>("step"); // 0: the scales are no codes
        QTest::addColumn<std::string>("told"); // "": nothing is
        QTest::addColumn<bool>("error");
        const auto row = [](const std::string& mode, const char* name, float step, const char* told, bool error) {
            QTest::addRow("%s, %s", mode.c_str(), name) << mode << step << std::string(told) << error;
        };
        constexpr float kBeside = 2.f / 65535, kBelow = 0.3f; // 1 becomes 1.0000153, or 0.9
        for (const std::string mode : { "nearest", "linear", "cubic" }) {
            row(mode, "float", 0, "", false);
            row(mode, "codes that hold them", 1.f / 1024, "", false);
            row(mode, "codes that leave no elements", kBelow,
                "Along axis 0 the output has 0 elements with it, in the float model 1.", true);
        }
        row("nearest", "codes beside them", kBeside, "is 1.0000", false);
        row("linear", "codes beside them", kBeside, "ONNX Runtime does not run mode linear with such scales", true);
        row("cubic", "codes beside them", kBeside, "ONNX Runtime does not run mode cubic with such scales", true);
    }
    void parameters()
    {
        QFETCH(std::string, mode);
        QFETCH(float, step);
        QFETCH(std::string, told);
        QFETCH(bool, error);
        const Prepared q = resized(true, step > 0 ? std::optional(step) : std::nullopt, mode);
        const Comparison c = compared(resized(false, {}, mode), q, feed({ 1, 1, 1, kSide }));
        const Finding* f = findingOf(c, Rule::MovesOtherwise);
        QVERIFY2((f == nullptr) == told.empty(), qPrintable(rulesOf(c)));
        if (!f)
            return;
        QCOMPARE(c.findings.front().rule, Rule::MovesOtherwise);
        QCOMPARE(f->node, std::string("n_r"));
        QVERIFY2(f->summary.find(told) != std::string::npos, f->summary.c_str());
        if (error)
            QCOMPARE(f->severity, Severity::Error);
        const bool empty = c.outputs.front().similarity.elements == 0;
        QCOMPARE(f->summary.find("y is not compared") != std::string::npos, empty);
        QVERIFY2(f->summary.find("in the float model 1") != std::string::npos, f->summary.c_str());
    }

    /// Which elements are taken follows from rounded values.
    void byData()
    {
        const Comparison same = compared(gathered(false, 0), gathered(true, 6.f / 255), feed({ kSide }));
        QVERIFY2(!findingOf(same, Rule::MovesOtherwise), qPrintable(rulesOf(same)));
        const Comparison c = compared(gathered(false, 0), gathered(true, 1), feed({ kSide }));
        const Finding* f = findingOf(c, Rule::MovesOtherwise);
        QVERIFY2(f && f->node == "n_y", qPrintable(rulesOf(c)));
        QCOMPARE(f->severity, Severity::Warning);
    }

    void misread_data()
    {
        QTest::addColumn<float>("factor");
        QTest::addColumn<bool>("told");
        QTest::newRow("as written") << 1.f << false;
        QTest::newRow("by twice the scale") << 2.f << true;
        QTest::newRow("by a quarter of it") << 0.25f << true;
    }
    /// Codes that are read by another scale are off behind the node that moves them, and not moved otherwise.
    void misread()
    {
        QFETCH(float, factor);
        QFETCH(bool, told);
        const Comparison c = compared(joined(false, 0), joined(true, factor * kCoarse), feed({ 2, kSide }));
        QVERIFY2((findingOf(c, Rule::WrongZeroPoint) != nullptr) == told, qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::MovesOtherwise), qPrintable(rulesOf(c)));
    }

    void castBefore_data()
    {
        QTest::addColumn<std::vector<DType>>("types");
        QTest::addColumn<std::string>("moving");
        for (const std::string moving : { "Slice", "Pad" }) {
            const auto row = [&](const char* name, const std::vector<DType>& types) {
                QTest::addRow("%s, %s", moving.c_str(), name) << types << moving;
            };
            row("float16", { DType::Float16 });
            row("float16 and back", { DType::Float16, DType::Float32 });
            row("bfloat16", { DType::BFloat16 });
            row("bfloat16, then float16", { DType::BFloat16, DType::Float16 });
            row("float8 and back", { DType::Float8E4M3FN, DType::Float32 });
        }
    }
    /// What a Cast rounds is not moved otherwise.
    void castBefore()
    {
        QFETCH(std::vector<DType>, types);
        QFETCH(std::string, moving);
        const Comparison c = compared(castAndMoved({}, moving), castAndMoved(types, moving), feed({ 2, kSide }));
        QVERIFY(c.outputs.front().similarity.sqnrDb && *c.outputs.front().similarity.sqnrDb < 90);
        QVERIFY2(!findingOf(c, Rule::MovesOtherwise), qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::ScaleMismatchAtJoin), qPrintable(rulesOf(c)));
    }

    void movedRowsOfTable_data()
    {
        QTest::addColumn<std::vector<std::string>>("moves");
        QTest::addColumn<std::string>("reader");
        QTest::addColumn<bool>("lost");
        const std::vector<std::vector<std::string>> chains { { "Gather" }, { "Gather", "Transpose" },
            { "Gather", "Unsqueeze", "Reshape" }, { "Gather", "Slice", "Transpose", "Unsqueeze", "Squeeze" },
            { "Gather", "Transpose", "Split" } };
        for (const auto& chain : chains)
            for (const std::string reader : { "DequantizeLinear", "QLinearAdd" })
                for (const bool lost : { false, true })
                    if (reader == "DequantizeLinear" || chain.back() != "Split")
                        QTest::addRow("%s of %zu, %s, %s", chain.back().c_str(), chain.size(), reader.c_str(),
                            lost ? "lost" : "as it was")
                            << chain << reader << lost;
    }
    /// Codes of a table have their scale from whoever reads them behind operators that only move them.
    void movedRowsOfTable()
    {
        QFETCH(std::vector<std::string>, moves);
        QFETCH(std::string, reader);
        QFETCH(bool, lost);
        CompareOptions options;
        options.prove = true;
        const FixedData ids({ Tensor::of<int64_t>({ kColumns }, { 3, 0, 7, 5 }) });
        const Comparison c = compared(movedRows(moves, "", false), movedRows(moves, reader, lost), ids, options);
        QVERIFY2(c.network && c.network->same(), c.network ? c.network->reason.c_str() : "");
        QCOMPARE(c.weights.size(), size_t(1));
        QCOMPARE(c.weights[0].name, std::string("table"));
        QVERIFY(c.weights[0].similarity.sqnrDb && (*c.weights[0].similarity.sqnrDb > 35) == !lost);
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((f != nullptr) == lost, qPrintable(rulesOf(c)));
        if (f)
            QCOMPARE(f->node, std::string("n_Gather"));
        if (lost)
            return;
        for (const std::string& move : moves) {
            const Number& sqnr = rowOf(c, move).accumulated.sqnrDb;
            QVERIFY2(sqnr && *sqnr > 35, move.c_str());
        }
    }

    /// A table that is no pair of the weights is held against the float model's, before that takes its place.
    void tablesWithoutPair_data()
    {
        QTest::addColumn<bool>("lost");
        QTest::newRow("as it was") << false;
        QTest::newRow("lost") << true;
    }
    void tablesWithoutPair()
    {
        QFETCH(bool, lost);
        CompareOptions options;
        options.prove = true;
        ComparePair pair
            = pairOf(movedRows({ "Gather" }, "", false), movedRows({ "Gather" }, "DequantizeLinear", lost));
        auto without = std::make_shared<Alignment>(*pair.alignment);
        without->weights.clear();
        pair.alignment = without;
        const FixedData ids({ Tensor::of<int64_t>({ kColumns }, { 3, 0, 7, 5 }) });
        const auto c = compareModels(pair, ids, options, {});
        QVERIFY(c.ok() && c->network);
        QCOMPARE(c->network->same(), !lost);
    }

    void movedWhileRunning_data()
    {
        QTest::addColumn<std::vector<std::string>>("moves");
        QTest::addColumn<std::string>("reader");
        QTest::addColumn<std::string>("behind");
        const std::vector<std::vector<std::string>> chains { { "Transpose" }, { "Transpose", "Slice", "Reshape" } };
        for (const auto& chain : chains)
            for (const std::string reader : { "DequantizeLinear", "MatMulInteger" })
                for (const std::string behind : { "Neg", "Abs" })
                    QTest::addRow("%s of %zu, %s, %s", chain.back().c_str(), chain.size(), reader.c_str(),
                        behind == "Neg" ? "the same" : "another operator behind")
                        << chain << reader << behind;
    }
    /// Codes whose scale is found while the model runs are the same values where their elements are moved.
    void movedWhileRunning()
    {
        QFETCH(std::vector<std::string>, moves);
        QFETCH(std::string, reader);
        QFETCH(std::string, behind);
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(::movedWhileRunning(moves, "", "Neg"), ::movedWhileRunning(moves, reader, behind),
            feed({ kTurned, kTurned }), options);
        const bool same = behind == "Neg";
        QVERIFY2(c.network && c.network->known(), c.network ? c.network->reason.c_str() : "");
        QVERIFY2(c.network->same() == same, qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((f == nullptr) == same, qPrintable(rulesOf(c)));
        if (f)
            QCOMPARE(f->node, std::string("n_y"));
    }

    void smallPart()
    {
        const Comparison c = compared(sliced(false), sliced(true), feed({ 2, kSide }));
        QVERIFY2(!findingOf(c, Rule::MovesOtherwise), qPrintable(rulesOf(c)));
        const bool told = std::ranges::any_of(c.findings, [&](const Finding& f) {
            return f.activation
                && (c.activations[*f.activation].name == "a" || c.activations[*f.activation].name == "s");
        });
        QVERIFY2(told, qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(MovedElementsTests)
#include "moved_elements_test.moc"
