// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/weight_rows.h"
#include "core/graph/domains.h"
#include "core/match/graph/canonical.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"
#include "tests/analysis/comparing.h"
#include "tests/support/tensors.h"

#include <cmath>
#include <functional>

/// Weights wherever they stand in a file, and their numbers in their own type, against naive sums in double.
using namespace qs;
using namespace qs::test;

namespace {

double db(double signal, double noise) { return 10 * std::log10(signal / noise); }

struct Powers {
    double signal = 0, noise = 0;
    void add(double x, double y)
    {
        signal += x * x;
        noise += (y - x) * (y - x);
    }
    double db() const { return ::db(signal, noise); }
};

Powers powersOf(const std::vector<float>& x, const std::vector<float>& y)
{
    Powers p;
    for (size_t i = 0; i < x.size(); ++i)
        p.add(x[i], y[i]);
    return p;
}

/// Codes `name`_codes with a scale for each index of `axis`, behind a DequantizeLinear that makes `name`.
void addStored(SmallModel& m, const std::string& name, const Shape& shape, int64_t axis, uint32_t seed)
{
    const auto count = size_t(*elementCount(shape));
    std::vector<int8_t> codes;
    for (const float v : normals(count, seed))
        codes.push_back(int8_t(std::clamp(std::nearbyint(40 * v), -127.f, 127.f)));
    std::vector<float> scales;
    for (int64_t i = 0; i < shape[size_t(axis)]; ++i)
        scales.push_back(0.01f * float(i + 1));
    m.weight(name, shape, codes, scales, axis);
}

/// The values that a file multiplies with, off by less than half of the smallest step: what a float model would hold.
Tensor beside(const Tensor& stored)
{
    std::vector<float> x = toFloats(stored);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] += 0.004f * std::sin(float(i));
    return Tensor::of<float>(stored.shape(), x);
}

Prepared floatProduct(const Tensor& weight)
{
    return SmallModel("f")
        .input("x", { 2, weight.dim(0) })
        .constant("w", weight)
        .node("MatMul", { "x", "w" }, { "y" })
        .output("y")
        .finish();
}

std::vector<WeightRow> rowsOf(const Prepared& f, const Prepared& q) { return compareWeights(pairOf(f, q), false, 1); }

using Movement = std::function<void(SmallModel&)>;
/// What makes "moved", a matrix of 6 x 4, of the stored "w_q"; `axis` of the scales there, nothing: along none.
struct MovedCase {
    const char* name;
    Shape stored;
    int64_t storedAxis;
    std::optional<int64_t> axis;
    Movement move;
};

Tensor ints(const std::vector<int64_t>& v) { return Tensor::of<int64_t>({ int64_t(v.size()) }, v); }

const std::vector<MovedCase>& movedCases()
{
    static const std::vector<MovedCase> cases {
        { "transposed", { 4, 6 }, 0, 1,
            [](SmallModel& m) {
                m.node("Transpose", { "w_q" }, { "moved" }, { { "perm", std::vector<int64_t> { 1, 0 } } });
            } },
        { "reshaped", { 2, 3, 4 }, 2, 1,
            [](SmallModel& m) {
                m.constant("to", ints({ 6, 4 })).node("Reshape", { "w_q", "to" }, { "moved" });
            } },
        { "squeezed", { 1, 6, 4 }, 1, 0,
            [](SmallModel& m) {
                m.constant("at", ints({ 0 })).node("Squeeze", { "w_q", "at" }, { "moved" });
            } },
        { "renamed", { 6, 4 }, 1, 1, [](SmallModel& m) { m.node("Identity", { "w_q" }, { "moved" }); } },
        { "cast", { 6, 4 }, 1, 1,
            [](SmallModel& m) {
                m.node("Cast", { "w_q" }, { "moved" }, { { "to", int64_t(DType::Float32) } });
            } },
        { "cut out", { 8, 4 }, 0, 0,
            [](SmallModel& m) {
                m.constant("from", ints({ 1 })).constant("end", ints({ 7 })).constant("axes", ints({ 0 }));
                m.node("Slice", { "w_q", "from", "end", "axes" }, { "moved" });
            } },
        { "split", { 6, 12 }, 1, 1,
            [](SmallModel& m) {
                m.constant("sizes", ints({ 4, 4, 4 }));
                m.node("Split", { "w_q", "sizes" }, { "a", "moved", "c" }, { { "axis", int64_t(1) } });
            } },
        { "gathered", { 6, 4 }, 1, 1,
            [](SmallModel& m) {
                m.constant("order", ints({ 3, 1, 0, -2 }));
                m.node("Gather", { "w_q", "order" }, { "moved" }, { { "axis", int64_t(1) } });
            } },
        { "turned and flattened", { 4, 2, 3 }, 1, std::nullopt,
            [](SmallModel& m) {
                m.node("Transpose", { "w_q" }, { "turned" }, { { "perm", std::vector<int64_t> { 2, 1, 0 } } });
                m.constant("to", ints({ 6, 4 })).node("Reshape", { "turned", "to" }, { "moved" });
            } },
    };
    return cases;
}

} // namespace

class WeightsTests : public QObject {
    Q_OBJECT
private slots:
    void movedAfterDequantizing_data();
    void movedAfterDequantizing();
    void putTogether();
    void packedProducts_data();
    void packedProducts();
    void recurrentWeights_data();
    void recurrentWeights();
    void gatheredTable();
    void insideBodies();
    void ownType_data();
    void ownType();
    void negativeScales();
    void tooCoarse();
    void weightsAlone();
    void foreignScale();
};

void WeightsTests::movedAfterDequantizing_data()
{
    QTest::addColumn<size_t>("index");
    for (size_t i = 0; i < movedCases().size(); ++i)
        QTest::newRow(movedCases()[i].name) << i;
}

/// Listed once, with the node that reads it and the numbers of what that node reads.
void WeightsTests::movedAfterDequantizing()
{
    QFETCH(size_t, index);
    const MovedCase& c = movedCases()[index];
    SmallModel m("q");
    m.input("x", { 2, 6 });
    addStored(m, "w_q", c.stored, c.storedAxis, 3);
    c.move(m);
    const Prepared q = m.node("MatMul", { "x", "moved" }, { "y" }).output("y").finish();
    const Tensor read = *q.plan->constant(q.value("moved"));
    QCOMPARE(read.shape(), (Shape { 6, 4 }));
    const Prepared f = floatProduct(beside(read));
    const auto rows = rowsOf(f, q);
    QCOMPARE(rows.size(), size_t(1));
    QCOMPARE(rows[0].name, std::string("w"));
    QCOMPARE(rows[0].node, std::string("n_y"));
    QCOMPARE(rows[0].quantizedName, std::string("w_q"));
    QCOMPARE(rows[0].channelAxis, int64_t(1));
    const auto x = toFloats(*f.plan->constant(f.value("w"))), y = toFloats(read);
    QVERIFY(close(rows[0].similarity.sqnrDb, powersOf(x, y).db(), 1e-6));
    for (size_t channel = 0; channel < 4; ++channel) {
        Powers own;
        for (size_t i = channel; i < x.size(); i += 4)
            own.add(x[i], y[i]);
        QVERIFY(close(rows[0].channelSqnrDb[channel], own.db(), 1e-6));
    }
    if (c.axis) {
        QVERIFY(rows[0].params.axis == c.axis);
        QCOMPARE(rows[0].params.scale.size(), size_t(read.dim(size_t(*c.axis))));
    }
    QVERIFY(rows[0].clippedFraction && *rows[0].clippedFraction < 0.1);
    QVERIFY(close(rows[0].offByMoreThanHalfStep, 0));
}

/// Two stored halves of one weight: a row each, which together are all of it.
void WeightsTests::putTogether()
{
    SmallModel m("q");
    m.input("x", { 2, 6 });
    addStored(m, "left", { 6, 3 }, 1, 3);
    addStored(m, "right", { 6, 1 }, 1, 4);
    m.node("Concat", { "left", "right" }, { "moved" }, { { "axis", int64_t(1) } });
    const Prepared q = m.node("MatMul", { "x", "moved" }, { "y" }).output("y").finish();
    const Tensor read = *q.plan->constant(q.value("moved"));
    const Prepared f = floatProduct(beside(read));
    const auto rows = rowsOf(f, q);
    QCOMPARE(rows.size(), size_t(2));
    QCOMPARE(rows[0].shape, (Shape { 6, 3 }));
    QCOMPARE(rows[1].shape, (Shape { 6, 1 }));
    Powers whole = powersOf(toFloats(*f.plan->constant(f.value("w"))), toFloats(read));
    const double noise = std::pow(*rows[0].similarity.rmse, 2) * 18 + std::pow(*rows[1].similarity.rmse, 2) * 6;
    QVERIFY(std::fabs(noise / whole.noise - 1) < 1e-6);
}

void WeightsTests::packedProducts_data()
{
    QTest::addColumn<bool>("packedStored");
    QTest::newRow("three against one") << true;
    QTest::newRow("one against three") << false;
}

/// Query, key and value: side by side in one file, apart in the other.
void WeightsTests::packedProducts()
{
    QFETCH(bool, packedStored);
    const auto all = normals(size_t(8 * 24), 21);
    std::vector<float> parts[3];
    for (size_t i = 0; i < all.size(); ++i)
        parts[i % 24 / 8].push_back(all[i]);
    const auto build = [&](bool packed, bool stored) {
        SmallModel m(stored ? "q" : "f");
        m.input("x", { 2, 8 });
        const auto add = [&](const std::string& name, const Shape& shape, const std::vector<float>& values) {
            if (stored)
                m.weight(name, shape, symmetricCodes(values, { 0.03f }), { 0.03f });
            else
                m.constant(name, Tensor::of<float>(shape, values));
        };
        if (packed) {
            add("wqkv", { 8, 24 }, all);
            m.node("MatMul", { "x", "wqkv" }, { "qkv" }).constant("sizes", ints({ 8, 8, 8 }));
            m.node("Split", { "qkv", "sizes" }, { "q", "k", "v" }, { { "axis", int64_t(1) } });
        } else {
            for (size_t i = 0; i < 3; ++i) {
                const std::string name(1, "qkv"[i]);
                add("w" + name, { 8, 8 }, parts[i]);
                m.node("MatMul", { "x", "w" + name }, { name });
            }
        }
        m.node("Mul", { "q", "k" }, { "s" }).node("Add", { "s", "v" }, { "y" });
        return m.output("y").finish();
    };
    const Prepared f = build(!packedStored, false), q = build(packedStored, true);
    const auto rows = rowsOf(f, q);
    QCOMPARE(rows.size(), size_t(3));
    for (size_t i = 0; i < 3; ++i) {
        QCOMPARE(rows[i].shape, (Shape { 8, 8 }));
        QVERIFY(rows[i].method == MatchMethod::Numeric);
        QCOMPARE(rows[i].part, packedStored);
        QVERIFY(*rows[i].similarity.sqnrDb > 35);
        const std::string name = packedStored ? std::string("w") + "qkv"[i] : "wqkv";
        QCOMPARE(rows[i].name, name);
        Powers own;
        for (const float x : parts[i])
            own.add(x, 0.03 * std::clamp(std::nearbyint(x / 0.03f), -127.f, 127.f));
        QVERIFY(close(rows[i].similarity.sqnrDb, own.db(), 1e-4));
    }
}

void WeightsTests::recurrentWeights_data()
{
    QTest::addColumn<int64_t>("directions");
    QTest::addColumn<bool>("perChannel");
    QTest::addColumn<bool>("otherState");
    QTest::newRow("one scale") << int64_t(1) << false << false;
    QTest::newRow("a scale a direction") << int64_t(2) << false << false;
    QTest::newRow("a scale a row") << int64_t(1) << true << false;
    QTest::newRow("a scale a row and direction") << int64_t(2) << true << false;
    QTest::newRow("a first state that the other file does not have") << int64_t(1) << false << true;
}

/// DynamicQuantizeLSTM stores [directions, inputs, rows] of LSTM's [directions, rows, inputs].
void WeightsTests::recurrentWeights()
{
    QFETCH(int64_t, directions);
    QFETCH(bool, perChannel);
    QFETCH(bool, otherState);
    const int64_t inputs = 3, hidden = 2, rowsOfGates = 8;
    SmallModel fm("f"), qm("q");
    fm.input("x", { 4, 1, inputs });
    qm.input("x", { 4, 1, inputs });
    Powers powers[2];
    for (size_t k = 0; k < 2; ++k) {
        const std::string name = k == 0 ? "W" : "R";
        const int64_t depth = k == 0 ? inputs : hidden;
        const auto w = normals(size_t(directions * rowsOfGates * depth), uint32_t(5 + k));
        const auto scaleCount = size_t(perChannel ? directions * rowsOfGates : directions);
        std::vector<float> scales;
        for (size_t i = 0; i < scaleCount; ++i)
            scales.push_back(0.02f + 0.002f * float(i));
        std::vector<int8_t> codes(w.size());
        for (int64_t d = 0; d < directions; ++d)
            for (int64_t r = 0; r < rowsOfGates; ++r)
                for (int64_t c = 0; c < depth; ++c) {
                    const float x = w[size_t((d * rowsOfGates + r) * depth + c)];
                    const float s = scales[size_t(perChannel ? d * rowsOfGates + r : d)];
                    const float code = std::clamp(std::nearbyint(x / s), -127.f, 127.f);
                    codes[size_t((d * depth + c) * rowsOfGates + r)] = int8_t(code);
                    powers[k].add(x, double(code) * double(s));
                }
        const Shape scaleShape = perChannel ? Shape { directions, rowsOfGates } : Shape { directions };
        fm.constant(name, Tensor::of<float>({ directions, rowsOfGates, depth }, w));
        qm.constant(name + "_quantized", Tensor::of<int8_t>({ directions, depth, rowsOfGates }, codes));
        qm.constant(name + "_scale", Tensor::of<float>(scaleShape, scales));
        qm.constant(name + "_zero_point", Tensor::of<int8_t>(scaleShape, std::vector<int8_t>(scaleCount, 0)));
    }
    const std::vector<SmallModel::Attribute> attributes { { "hidden_size", hidden },
        { "direction", std::string(directions == 2 ? "bidirectional" : "forward") } };
    const std::string state = otherState ? "h" : "", output = otherState ? "z" : "y";
    if (otherState)
        qm.input("h", { directions, 1, hidden });
    const Prepared f = fm.node("LSTM", { "x", "W", "R" }, { "y" }, attributes).output("y").finish();
    const Prepared q = qm.node("DynamicQuantizeLSTM",
                             { "x", "W_quantized", "R_quantized", "", "", state, "", "", "W_scale", "W_zero_point",
                                 "R_scale", "R_zero_point" },
                             { output }, attributes, kMicrosoftDomain)
                           .output(output)
                           .finish();
    const auto rows = rowsOf(f, q);
    QCOMPARE(rows.size(), size_t(2));
    for (size_t k = 0; k < 2; ++k) {
        QCOMPARE(rows[k].name, std::string(k == 0 ? "W" : "R"));
        QCOMPARE(rows[k].channelAxis, int64_t(1));
        QVERIFY(close(rows[k].similarity.sqnrDb, powers[k].db(), 1e-4));
    }
}

/// quantize_dynamic gathers codes and multiplies them as they are: the table is a weight, too.
void WeightsTests::gatheredTable()
{
    const auto table = normals(40, 3), w = normals(12, 4);
    const Prepared f = SmallModel("f")
                           .input("ids", { 2 }, DType::Int64)
                           .constant("table", Tensor::of<float>({ 10, 4 }, table))
                           .constant("w", Tensor::of<float>({ 4, 3 }, w))
                           .node("Gather", { "table", "ids" }, { "e" })
                           .node("MatMul", { "e", "w" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("ids", { 2 }, DType::Int64)
                           .constant("table_quantized", Tensor::of<int8_t>({ 10, 4 }, symmetricCodes(table, { 0.03f })))
                           .constant("w_quantized", Tensor::of<int8_t>({ 4, 3 }, symmetricCodes(w, { 0.02f })))
                           .constant("table_scale", Tensor::scalar(0.03f))
                           .constant("w_scale", Tensor::scalar(0.02f))
                           .constant("zero", Tensor::scalar<int8_t>(0))
                           .node("Mul", { "table_scale", "w_scale" }, { "both" })
                           .node("Gather", { "table_quantized", "ids" }, { "e_quantized" })
                           .node("MatMulInteger", { "e_quantized", "w_quantized", "zero", "zero" }, { "sums" })
                           .node("Cast", { "sums" }, { "cast" }, { { "to", int64_t(DType::Float32) } })
                           .node("Mul", { "cast", "both" }, { "y" })
                           .output("y")
                           .finish();
    const auto rows = rowsOf(f, q);
    QCOMPARE(rows.size(), size_t(2));
    QCOMPARE(rows[0].name, std::string("table"));
    QCOMPARE(rows[0].node, std::string("n_e"));
    QVERIFY(*rows[0].similarity.sqnrDb > 35);
    QCOMPARE(rows[1].name, std::string("w"));
}

namespace {

/// An If whose branches multiply x by w, or by its codes.
Prepared branches(bool stored, const std::vector<float>& w)
{
    const auto branch = [&](const std::string& name) {
        GraphBuilder b;
        b.allowOuter("x");
        const std::string weight = name + "_w";
        const auto constant = [&](const std::string& n, Tensor t) { b.setInitializer(b.value(n), std::move(t)); };
        const auto node = [&](const std::string& type, const std::vector<std::string>& in, const std::string& out) {
            Node made;
            made.name = "n_" + out;
            made.opType = type;
            made.opset = 17;
            for (const std::string& i : in)
                made.inputs.push_back(b.value(i));
            made.outputs = { b.value(out) };
            b.addNode(std::move(made));
        };
        if (stored) {
            constant(weight + "_quantized", Tensor::of<int8_t>({ 4, 3 }, symmetricCodes(w, { 0.03f })));
            constant("s", Tensor::scalar(0.03f));
            node("DequantizeLinear", { weight + "_quantized", "s" }, weight);
        } else {
            constant(weight, Tensor::of<float>({ 4, 3 }, w));
        }
        node("MatMul", { "x", weight }, name + "_y");
        b.addOutput(b.value(name + "_y"));
        return std::make_shared<const Graph>(std::move(b).finish().value());
    };
    return SmallModel(stored ? "q" : "f")
        .input("x", { 2, 4 })
        .input("c", {}, DType::Bool)
        .node("If", { "c" }, { "y" }, { { "then_branch", branch("then") }, { "else_branch", branch("else") } })
        .output("y")
        .finish();
}

} // namespace

/// Constants of branches and loop bodies are listed with the node inside that reads them.
void WeightsTests::insideBodies()
{
    const auto w = normals(12, 6);
    const auto rows = rowsOf(branches(false, w), branches(true, w));
    QCOMPARE(rows.size(), size_t(2));
    for (const WeightRow& row : rows) {
        QVERIFY(row.name == "then_w" || row.name == "else_w");
        QVERIFY(row.node == "n_then_y" || row.node == "n_else_y");
        QVERIFY(*row.similarity.sqnrDb > 35);
        QVERIFY(!row.floatValue.valid());
    }
    QVERIFY(rows[0].name != rows[1].name);
}

void WeightsTests::ownType_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<bool>("symmetric");
    QTest::addColumn<int>("axis"); // -1: one scale
    QTest::addColumn<int>("block");
    for (const DType type : { DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int4, DType::UInt4,
             DType::Int2, DType::UInt2, DType::Float8E4M3FN })
        for (const int axis : { -1, 0, 1 }) {
            const std::string name = std::string(dtypeName(type))
                + (axis < 0         ? ""
                        : axis == 0 ? ", rows"
                                    : ", columns");
            QTest::newRow(name.c_str()) << int(type) << isSigned(type) << axis << 0;
        }
    QTest::newRow("int8 with zero points") << int(DType::Int8) << false << 1 << 0;
    for (const DType type : { DType::Int4, DType::UInt4, DType::Int8 })
        QTest::newRow((std::string(dtypeName(type)) + " in blocks").c_str()) << int(type) << isSigned(type) << 0 << 4;
}

/// Every number of a weight against sums over its elements, by the codes that the quantizer writes for that type.
void WeightsTests::ownType()
{
    QFETCH(int, type);
    QFETCH(bool, symmetric);
    QFETCH(int, axis);
    QFETCH(int, block);
    const Shape shape { 10, 6 };
    auto values = normals(60, 17);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] *= i % 6 == 2 ? 3.f : 0.5f;
    const Tensor weight = Tensor::of<float>(shape, values);
    const ScaleRules rules { DType(type), DType::Float32, symmetric, false, std::nullopt, false };
    const auto params = block > 0 ? blockedWeightParams(weight, rules, axis, block)
                                  : weightParams(weight, rules, axis < 0 ? std::nullopt : std::optional<int64_t>(axis));
    QVERIFY(params.ok());
    const Tensor codes = weightCodes(weight, *params);
    SmallModel m("q");
    m.input("x", { 2, 10 }).constant("codes", codes);
    m.constant("s", realTensor(DType::Float32, paramsShape(*params, shape), params->scale));
    m.constant("z", codeTensor(DType(type), paramsShape(*params, shape), params->zeroPoint));
    std::vector<SmallModel::Attribute> attributes { { "axis", int64_t(std::max(axis, 0)) } };
    if (block > 0)
        attributes.emplace_back("block_size", int64_t(block));
    m.node("DequantizeLinear", { "codes", "s", "z" }, { "w" }, attributes);
    const Prepared q = m.node("MatMul", { "x", "w" }, { "y" }).output("y").finish();
    const auto rows = rowsOf(floatProduct(weight), q);
    QCOMPARE(rows.size(), size_t(1));
    const WeightRow& row = rows[0];
    QCOMPARE(row.params.dtype, DType(type));

    const auto scaleAt = [&](size_t i) {
        const size_t r = i / 6, c = i % 6;
        return double(params->scale[block > 0 ? r / size_t(block) * 6 + c : axis < 0 ? 0 : axis == 0 ? r : c]);
    };
    const auto y = dequantized(codes, *params);
    Powers whole = powersOf(values, y), channels[6];
    double ideal = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        channels[i % 6].add(values[i], y[i]);
        const double error = double(y[i]) - values[i];
        ideal += isInteger(DType(type)) ? scaleAt(i) * scaleAt(i) / 12 : error * error;
    }
    QVERIFY(close(row.similarity.sqnrDb, whole.db(), 1e-5));
    for (size_t c = 0; c < 6; ++c)
        QVERIFY(close(row.channelSqnrDb[c], channels[c].db(), 1e-5));
    QVERIFY(close(row.idealSqnrDb, db(whole.signal, ideal), 1e-4));
    const auto trial = [&](std::optional<int64_t> along) {
        const auto p = weightParams(weight, rules, along);
        return powersOf(values, dequantized(weightCodes(weight, *p), *p)).db();
    };
    QVERIFY(close(row.perTensorSqnrDb, trial(std::nullopt), 1e-4));
    QVERIFY(close(row.perChannelSqnrDb, trial(1), 1e-4));
    if (row.finer && row.finer->eightBits && *row.similarity.sqnrDb > 0)
        QVERIFY(*row.finer->eightBits > *row.similarity.sqnrDb);
    QCOMPARE(row.finer.has_value(), *row.similarity.sqnrDb < kFinerWeightsDb);
}

/// Blocks of ONNX Runtime's own quantizer may have negative scales: their ranges are turned round, nothing is clipped.
void WeightsTests::negativeScales()
{
    const std::vector<float> x { -0.8f, 0.31f, 0.7f, -0.1f };
    SmallModel m("q");
    m.input("x", { 1, 2 }).weight("w", { 2, 2 }, { 80, -31, -70, 10 }, { -0.01f });
    const Prepared q = m.node("MatMul", { "x", "w" }, { "y" }).output("y").finish();
    const auto rows = rowsOf(floatProduct(Tensor::of<float>({ 2, 2 }, x)), q);
    QCOMPARE(rows.size(), size_t(1));
    QVERIFY(close(rows[0].clippedFraction, 0));
    QVERIFY(close(rows[0].offByMoreThanHalfStep, 0));
}

namespace {

/// x [8,16] -> MatMul -> y with a weight of that type, per tensor.
Comparison rounded(DType type, float widened = 1)
{
    std::vector<float> values = normals(192, 31);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] *= i / 12 == 3 ? 2.f : 0.6f; // a row that stretches the range of every column
    const Tensor weight = Tensor::of<float>({ 16, 12 }, values);
    auto params = *weightParams(weight, { type, DType::Float32, true, false, std::nullopt, false }, std::nullopt);
    params.scale[0] *= widened;
    SmallModel fm("f"), qm("q");
    fm.input("x", { 8, 16 }).constant("w", weight).node("MatMul", { "x", "w" }, { "y" }).output("y");
    qm.input("x", { 8, 16 }).constant("c", weightCodes(weight, params)).constant("s", Tensor::scalar(params.scale[0]));
    qm.qdq<uint8_t>("x", "x_dq", 8.f / 255, 128);
    qm.node("DequantizeLinear", { "c", "s" }, { "w" }).node("MatMul", { "x_dq", "w" }, { "y" }).output("y");
    const FixedData data(
        { Tensor::of<float>({ 8, 16 }, normals(128, 7)), Tensor::of<float>({ 8, 16 }, normals(128, 9)) });
    return compared(fm.finish(), qm.finish(), data);
}

const EvidenceItem* evidenceOf(const Finding& f, const std::string& key)
{
    const auto it = std::ranges::find(f.evidence, key, &EvidenceItem::key);
    return it == f.evidence.end() ? nullptr : &*it;
}

} // namespace

void WeightsTests::tooCoarse()
{
    const Comparison eight = rounded(DType::Int8);
    QVERIFY2(!findingOf(eight, Rule::WeightsTooCoarse), qPrintable(rulesOf(eight)));
    const Comparison four = rounded(DType::Int4);
    const Finding* f = findingOf(four, Rule::WeightsTooCoarse);
    QVERIFY2(f, qPrintable(rulesOf(four)));
    QCOMPARE(f->node, std::string("n_y"));
    QCOMPARE(f->tensor, std::string("w"));
    QVERIFY(!findingOf(four, Rule::ChannelImbalance));
    QVERIFY(f->change.kind == RemedyKind::EightBitWeight);
    const WeightRow& row = four.weights[0];
    QVERIFY(*row.similarity.sqnrDb < kCoarseWeightDb);
    QVERIFY(evidenceOf(*f, "eight_bits_per_channel_sqnr_db"));
    QVERIFY(close(evidenceOf(*f, "one_more_bit_sqnr_db")->number, *row.finer->oneMoreBit));
    QVERIFY(*row.finer->oneMoreBit > *row.similarity.sqnrDb + 4 && *row.finer->oneMoreBit < *row.similarity.sqnrDb + 8);
    QVERIFY(close(f->expectedGainDb, *row.finer->eightBitsPerChannel - *row.similarity.sqnrDb));
}

/// The weight alone is in codes: all of the error is the weight's, and the estimate says so.
void WeightsTests::weightsAlone()
{
    const Tensor weight = Tensor::of<float>({ 16, 12 }, normals(192, 31));
    const auto params
        = *weightParams(weight, { DType::Int4, DType::Float32, true, false, std::nullopt, false }, int64_t(1));
    SmallModel fm("f"), qm("q");
    fm.input("x", { 8, 16 }).constant("w", weight).node("MatMul", { "x", "w" }, { "y" }).output("y");
    qm.input("x", { 8, 16 })
        .constant("c", weightCodes(weight, params))
        .constant("s", Tensor::of<float>({ 12 }, { params.scale.begin(), params.scale.end() }))
        .node("DequantizeLinear", { "c", "s" }, { "w" })
        .node("MatMul", { "x", "w" }, { "y" })
        .output("y");
    const Comparison c
        = compared(fm.finish(), qm.finish(), FixedData({ Tensor::of<float>({ 8, 16 }, normals(128, 7)) }));
    const auto y = std::ranges::find(c.activations, std::string("y"), &ActivationRow::name);
    const double mse = *y->accumulated.rmse * *y->accumulated.rmse;
    QVERIFY(*y->noise.weights > 0.7 * mse && *y->noise.weights <= mse);
    QVERIFY(close(*y->noise.weights + *y->noise.inherited, mse));
    const Finding* f = findingOf(c, Rule::WeightsTooCoarse);
    QVERIFY2(f, qPrintable(rulesOf(c)));
    QVERIFY(f->tensor == "w" && f->change.kind == RemedyKind::EightBitWeight);
}

void WeightsTests::foreignScale()
{
    const Comparison c = rounded(DType::Int8, 8);
    const Finding* f = findingOf(c, Rule::WeightsTooCoarse);
    QVERIFY2(f, qPrintable(rulesOf(c)));
    QVERIFY(f->change.kind == RemedyKind::Requantize);
    QVERIFY(*f->expectedGainDb > 12 && *f->expectedGainDb < 24);
}

QTEST_GUILESS_MAIN(WeightsTests)
#include "weights_test.moc"
