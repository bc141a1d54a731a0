// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/data/arrays/npz_writer.h"
#include "core/graph/domains.h"
#include "core/onnx/write/export.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/tensor/convert.h"
#include "tests/support/helper_call.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kOpen = -1; ///< a size that the file does not say

/// x -> [quantizers] -> MatMul -> y
SmallModel product(int64_t batch, bool quantized)
{
    std::mt19937 random(5);
    SmallModel m({});
    m.input("x", { batch, 4 }).constant("w", normalFloats(random, { 4, 3 }, 1));
    if (quantized)
        m.qdq<int8_t>("x", "x_read", 4.f / 127, 0);
    m.node("MatMul", { quantized ? "x_read" : "x", "w" }, { "y" });
    m.output("y");
    return m;
}

/// image -> [Transpose] -> [quantizers] -> Conv -> [Transpose] -> y
SmallModel convolution(bool channelsLast)
{
    std::mt19937 random(5);
    SmallModel m({});
    m.input("image", channelsLast ? Shape { 1, 6, 6, 3 } : Shape { 1, 3, 6, 6 });
    m.constant("w", normalFloats(random, { 5, 3, 3, 3 }, 1));
    if (channelsLast)
        m.node("Transpose", { "image" }, { "first" }, { { "perm", std::vector<int64_t> { 0, 3, 1, 2 } } })
            .qdq<int8_t>("first", "read", 4.f / 127, 0);
    m.node("Conv", { channelsLast ? "read" : "image", "w" }, { channelsLast ? "made" : "y" });
    if (channelsLast)
        m.node("Transpose", { "made" }, { "y" }, { { "perm", std::vector<int64_t> { 0, 2, 3, 1 } } });
    return m.output("y");
}

/// x (codes) -> [Reshape] -> DequantizeLinear -> MatMul -> QuantizeLinear -> y (codes). `bySteps`: Cast, Sub and Mul in
/// place of the first of these.
template <class T> SmallModel onCodes(T zero, bool moved, bool readable, bool bySteps = false)
{
    std::mt19937 random(5);
    SmallModel m({});
    m.input("x", { 1, 4 }, dtypeOf<T>()).constant("w", normalFloats(random, { 4, 3 }, 1));
    m.constant("xs", Tensor::scalar(0.03125f)).constant("xz", Tensor::scalar(zero));
    m.constant("ys", Tensor::scalar(0.0625f)).constant("shape", Tensor::of<int64_t>({ 2 }, { 1, 4 }));
    if (moved)
        m.node("Reshape", { "x", "shape" }, { "x_moved" });
    const std::string codes = moved ? "x_moved" : "x";
    if (readable)
        m.node("DequantizeLinear", { codes, "xs", "xz" }, { "read" });
    else if (bySteps)
        m.constant("offset", Tensor::scalar(float(zero)))
            .node("Cast", { codes }, { "cast" }, { { "to", int64_t(1) } })
            .node("Sub", { "cast", "offset" }, { "moved_codes" })
            .node("Mul", { "moved_codes", "xs" }, { "read" });
    else
        m.node("Cast", { codes }, { "read" }, { { "to", int64_t(1) } });
    return m.node("MatMul", { "read", "w" }, { "product" })
        .node("QuantizeLinear", { "product", "ys", "xz" }, { "y" })
        .output("y");
}

constexpr float kCodeScale = 1 / 64.f; ///< of all weights

Tensor weightCodes(const Shape& shape)
{
    std::mt19937 random(6);
    Tensor codes = Tensor::allocate(DType::Int8, shape);
    for (int8_t& code : codes.fill<int8_t>())
        code = static_cast<int8_t>(random() % 128) - 64;
    return codes;
}

Tensor realWeight(const Shape& shape)
{
    std::vector<float> values = toFloats(weightCodes(shape));
    for (float& v : values)
        v *= kCodeScale;
    return Tensor::of<float>(shape, values);
}

const Shape kFirstFilter { 5, 3, 3, 3 }, kSecondFilter { 4, 5, 2, 2 };

/// image -> Conv -> Conv -> y
SmallModel twoConvolutions()
{
    SmallModel m({});
    m.input("image", { 1, 3, 6, 6 }).constant("w", realWeight(kFirstFilter)).constant("v", realWeight(kSecondFilter));
    return m.node("Conv", { "image", "w" }, { "inner" }).node("Conv", { "inner", "v" }, { "y" }).output("y");
}

/// The same on codes with the channels last, as ONNX Runtime saves it.
SmallModel twoChannelsLast()
{
    const std::vector<SmallModel::Attribute> last { { "channels_last", int64_t(1) } };
    SmallModel m({});
    m.input("image", { 1, 3, 6, 6 }).constant("w", weightCodes(kFirstFilter)).constant("v", weightCodes(kSecondFilter));
    m.constant("ws", Tensor::scalar(kCodeScale)).constant("wz", Tensor::scalar<int8_t>(0));
    m.constant("z", Tensor::scalar<uint8_t>(128)).constant("xs", Tensor::scalar(1 / 32.f));
    m.constant("cs", Tensor::scalar(0.15f)).constant("ys", Tensor::scalar(0.5f));
    m.node("QuantizeLinear", { "image", "xs", "z" }, { "codes" });
    m.node("Transpose", { "codes" }, { "turned" }, { { "perm", std::vector<int64_t> { 0, 2, 3, 1 } } });
    m.node("QLinearConv", { "turned", "xs", "z", "w", "ws", "wz", "cs", "z" }, { "made" }, last, kMicrosoftDomain);
    m.node("QLinearConv", { "made", "cs", "z", "v", "ws", "wz", "ys", "z" }, { "sums" }, last, kMicrosoftDomain);
    m.node("Transpose", { "sums" }, { "back" }, { { "perm", std::vector<int64_t> { 0, 3, 1, 2 } } });
    return m.node("DequantizeLinear", { "back", "ys", "z" }, { "y" }).output("y");
}

/// What a text's file takes beside its tokens.
struct TextInputs {
    bool positions = false;
    DType past = DType::Undefined; ///< Undefined: none
    std::string other = {}; ///< a further input
};

/// ids -> Gather [+ places] [behind the past] -> [quantizers] -> MatMul -> y
SmallModel text(const TextInputs& takes, bool quantized)
{
    std::mt19937 random(5);
    SmallModel m({});
    m.input("input_ids", { 1, kOpen }, DType::Int64).constant("table", normalFloats(random, { 8, 4 }, 1));
    m.constant("w", normalFloats(random, { 4, 3 }, 1))
        .constant("places", Tensor::of<float>({ 64, 4 }, std::vector<float>(256)));
    m.node("Gather", { "table", "input_ids" }, { "x" });
    std::string last = "x";
    if (takes.positions) {
        m.input("position_ids", { 1, kOpen }, DType::Int64).node("Gather", { "places", "position_ids" }, { "place" });
        m.node("Add", { "x", "place" }, { "x_placed" });
        last = "x_placed";
    }
    if (takes.past != DType::Undefined) {
        m.input("past.0.key", { 1, kOpen, 4 }, takes.past);
        m.node("Cast", { "past.0.key" }, { "past" }, { { "to", int64_t(1) } });
        m.node("Concat", { "past", last }, { "present" }, { { "axis", int64_t(1) } });
        last = "present";
    }
    if (!takes.other.empty())
        m.input(takes.other, { 1 }).node("Add", { last, takes.other }, { "shifted" });
    if (!takes.other.empty())
        last = "shifted";
    if (quantized)
        m.qdq<int8_t>(last, "read", 4.f / 127, 0);
    return m.node("MatMul", { quantized ? "read" : last, "w" }, { "y" }).output("y");
}

/// x -> Relu -> features; -> Flatten -> MatMul -> Softmax -> scores. The outputs in either order.
SmallModel classifier(bool scoresFirst, bool quantized)
{
    std::mt19937 random(6);
    SmallModel m({});
    m.input("x", { kOpen, 1, 2, 2 }).constant("w", normalFloats(random, { 4, 3 }, 1));
    m.node("Relu", { "x" }, { "features" });
    if (quantized)
        m.qdq<int8_t>("features", "read", 4.f / 127, 0);
    m.node("Flatten", { quantized ? "read" : "features" }, { "flat" }).node("MatMul", { "flat", "w" }, { "sums" });
    m.node("Softmax", { "sums" }, { "scores" }, { { "axis", int64_t(1) } });
    return m.output(scoresFirst ? "scores" : "features").output(scoresFirst ? "features" : "scores");
}

} // namespace

/// Files whose inputs are those of the float model in another form: they are one network all the same.
class InterfaceTests : public QObject {
    Q_OBJECT
private slots:
    void batchOfTheOtherFile();
    void channelsLast();
    void channelsLastWithin();
    void codesForReals_data();
    void codesForReals();
    void wholeNumbers_data();
    void wholeNumbers();
    void whatTokensImply_data();
    void whatTokensImply();
    void otherInputs();
    void refusals();
    void restored();
    void ordersOfAxes();
    void labels_data();
    void labels();
    void columnsOfScores_data();
    void columnsOfScores();

private:
    std::string path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)).toStdString(); }
    void save(SmallModel& model, const char* name);
    void saveTexts(); ///< tokens alone
    Inputs asked() const;
    SnapshotPtr compared() const; ///< null where that failed
    QTemporaryDir m_folder;
    std::string m_data; ///< empty: random numbers
};

void InterfaceTests::saveTexts()
{
    auto npz = NpzWriter::create(path("texts.npz"), { "input_ids" }, 2);
    QVERIFY(npz.ok());
    for (int64_t k = 0; k < 2; ++k)
        QVERIFY(npz->add(size_t(k), { Tensor::of<int64_t>({ 1, 5 }, { k, 3, 1, 7, 2 }) }).ok());
    QVERIFY(npz->finish().ok());
    m_data = path("texts.npz");
}

void InterfaceTests::save(SmallModel& model, const char* name)
{
    const Prepared made = model.finish();
    QVERIFY(exportModel(GraphDraft(std::shared_ptr<const Model>(made.plan, &made.plan->model())), path(name)).ok());
}

Inputs InterfaceTests::asked() const
{
    Inputs inputs;
    inputs.floatPath = path("float.onnx");
    inputs.quantPath = path("quantized.onnx");
    inputs.data.spec = m_data.empty() ? "random:8:1" : m_data;
    inputs.threads = 1;
    return inputs;
}

SnapshotPtr InterfaceTests::compared() const
{
    const auto built = buildSnapshot(asked(), nullptr, {}, {});
    if (!built.ok())
        qWarning("%s", issueText(built.issue()).c_str());
    return built.ok() ? *built : nullptr;
}

void InterfaceTests::labels_data()
{
    QTest::addColumn<bool>("scoresFirst");
    QTest::addColumn<bool>("labelled");
    QTest::addColumn<QStringList>("warned");
    QTest::newRow("classes") << true << true << QStringList {};
    QTest::newRow("features first") << false << true
                                    << QStringList { "labels are not used", "'features' names no class",
                                           "top-1 agreement tells of 'scores'" };
    QTest::newRow("features first, no labels") << false << false << QStringList {};
}

/// Accuracy is that of the first output; labels that it has no use for are told of.
void InterfaceTests::labels()
{
    QFETCH(bool, scoresFirst);
    QFETCH(bool, labelled);
    QFETCH(QStringList, warned);
    SmallModel given = classifier(scoresFirst, false), quantized = classifier(scoresFirst, true);
    QS_HELPER(save(given, "float.onnx"));
    QS_HELPER(save(quantized, "quantized.onnx"));
    std::mt19937 random(7);
    std::vector<std::string> names { "x" };
    if (labelled)
        names.push_back("labels");
    auto npz = NpzWriter::create(path("labels.npz"), names, 4);
    QVERIFY(npz.ok());
    for (int64_t k = 0; k < 4; ++k) {
        std::vector<Tensor> sample { normalFloats(random, { 1, 2, 2 }, 1) };
        if (labelled)
            sample.push_back(Tensor::scalar(k % 3));
        QVERIFY(npz->add(size_t(k), sample).ok());
    }
    QVERIFY(npz->finish().ok());
    m_data = path("labels.npz");
    const SnapshotPtr found = compared();
    m_data.clear();
    QVERIFY(found);
    QCOMPARE(found->comparison->accuracy.has_value(), scoresFirst && labelled);
    QString text;
    for (const std::string& warning : found->warnings)
        text += QString::fromStdString(warning) + '\n';
    for (const QString& word : warned)
        QVERIFY2(text.contains(word), qPrintable(text));
    QCOMPARE(text.contains("labels"), !warned.isEmpty());
}

void InterfaceTests::batchOfTheOtherFile()
{
    SmallModel open = product(kOpen, false), fixed = product(4, true);
    QS_HELPER(save(open, "float.onnx"));
    QS_HELPER(save(fixed, "quantized.onnx"));
    const SnapshotPtr found = compared();
    QVERIFY(found);
    QCOMPARE(found->data->samples(), size_t(8));
    QCOMPARE(found->data->feeds(), size_t(2));
    QVERIFY(*found->comparison->outputs.at(0).similarity.sqnrDb > 30);
}

void InterfaceTests::channelsLast()
{
    SmallModel first = convolution(false), last = convolution(true);
    QS_HELPER(save(first, "float.onnx"));
    QS_HELPER(save(last, "quantized.onnx"));
    const SnapshotPtr found = compared();
    QVERIFY(found);
    QVERIFY(*found->comparison->outputs.at(0).similarity.sqnrDb > 30);
    QVERIFY(found->quantModel->fitted && found->quantModel->fitted->size() == 2);
    QCOMPARE(found->quantModel->fitted->at(0).order, (std::vector<int64_t> { 0, 2, 3, 1 }));
    QVERIFY(found->quantModel->fitted->at(1).isOutput);
    QVERIFY(!found->quantFile->fitted); // which says what the file holds
}

/// What lies between is compared in the order of the float model.
void InterfaceTests::channelsLastWithin()
{
    SmallModel first = twoConvolutions(), last = twoChannelsLast();
    QS_HELPER(save(first, "float.onnx"));
    const Prepared made = last.finish();
    GraphDraft draft(std::shared_ptr<const Model>(made.plan, &made.plan->model()));
    draft.opsets[kMicrosoftDomain] = 1;
    QVERIFY(exportModel(draft, path("quantized.onnx")).ok());
    const SnapshotPtr found = compared();
    QVERIFY(found);
    QVERIFY(*found->comparison->outputs.at(0).similarity.sqnrDb > 20);
    const auto& rows = found->comparison->activations;
    const auto inner = std::ranges::find(rows, "inner", &ActivationRow::name);
    QVERIFY(inner != rows.end());
    QVERIFY(*inner->accumulated.sqnrDb > 20);
    QVERIFY(found->alignment->unmatchedFloat.empty() && found->alignment->unmatchedQuant.empty());
    QVERIFY(found->quantFile->graph().findValue("turned").valid()); // which is the file
}

void InterfaceTests::codesForReals_data()
{
    QTest::addColumn<bool>("isSigned");
    QTest::addColumn<bool>("moved");
    QTest::addColumn<bool>("bySteps");
    QTest::addRow("int8") << true << false << false;
    QTest::addRow("uint8") << false << false << false;
    QTest::addRow("moved before they are read") << true << true << false;
    QTest::addRow("int8, by Cast, Sub and Mul") << true << false << true;
    QTest::addRow("uint8, moved, by Cast, Sub and Mul") << false << true << true;
}

/// Reals become the codes that the file reads, and the codes that it puts out become reals.
void InterfaceTests::codesForReals()
{
    QFETCH(const bool, isSigned);
    QFETCH(const bool, moved);
    QFETCH(const bool, bySteps);
    SmallModel open = product(1, false);
    SmallModel codes
        = isSigned ? onCodes<int8_t>(3, moved, !bySteps, bySteps) : onCodes<uint8_t>(131, moved, !bySteps, bySteps);
    QS_HELPER(save(open, "float.onnx"));
    QS_HELPER(save(codes, "quantized.onnx"));
    const SnapshotPtr found = compared();
    QVERIFY(found);
    QVERIFY(*found->comparison->outputs.at(0).similarity.sqnrDb > 20);
    QVERIFY(found->quantModel->fitted && found->quantModel->fitted->at(0).codes);
    QCOMPARE(found->quantModel->fitted->at(0).codes->scale, (std::vector<float> { 0.03125f }));
    QVERIFY(found->alignment->unmatchedFloat.empty());
}

void InterfaceTests::wholeNumbers_data()
{
    QTest::addColumn<bool>("both"); // files multiply by whole numbers
    QTest::addRow("codes in floats") << false;
    QTest::addRow("the model's own numbers") << true;
}

/// A weight of whole numbers with factors behind the product is a quantized one, unless the float model has it so.
void InterfaceTests::wholeNumbers()
{
    QFETCH(const bool, both);
    const Shape shape { 4, 6 };
    const auto scaled = [&](float nudge) {
        SmallModel m({});
        m.input("x", { 1, 4 }).constant("w", Tensor::of<float>(shape, toFloats(weightCodes(shape))));
        m.constant("s", Tensor::of<float>({ 6 }, std::vector<float>(6, kCodeScale * nudge)));
        return m.node("MatMul", { "x", "w" }, { "m" }).node("Mul", { "m", "s" }, { "y" }).output("y");
    };
    SmallModel plain({});
    plain.input("x", { 1, 4 }).constant("w_real", realWeight(shape)).node("MatMul", { "x", "w_real" }, { "y" });
    plain.output("y");
    SmallModel given = both ? scaled(1) : std::move(plain), other = scaled(both ? 1 : 1.001f);
    QS_HELPER(save(given, "float.onnx"));
    QS_HELPER(save(other, "quantized.onnx"));
    const SnapshotPtr found = compared();
    QVERIFY(found && found->comparison->network);
    QVERIFY(found->comparison->network->same());
    QCOMPARE(found->quantModel->quant->form(), both ? QuantForm::Float : QuantForm::WeightOnly);
    QCOMPARE(found->comparison->weights.size(), size_t(both ? 0 : 1));
    if (!both)
        QVERIFY(*found->comparison->weights[0].similarity.sqnrDb > 50);
}

void InterfaceTests::whatTokensImply_data()
{
    QTest::addColumn<TextInputs>("floats");
    QTest::addColumn<TextInputs>("quants");
    const TextInputs none, places { true }, past { false, DType::Float32 }, half { true, DType::Float16 };
    const TextInputs codes { false, DType::Int8 };
    QTest::addRow("a past") << none << past;
    QTest::addRow("places and a past of halves") << none << half;
    QTest::addRow("places beside a past") << past << half;
    QTest::addRow("a past of codes") << past << codes;
    QTest::addRow("fewer than the float model") << half << none;
    QTest::addRow("another") << places << past;
}

/// At the beginning of a text there is no past and places count from 0, whichever file asks for them.
void InterfaceTests::whatTokensImply()
{
    QFETCH(const TextInputs, floats);
    QFETCH(const TextInputs, quants);
    SmallModel a = text(floats, false), b = text(quants, true);
    QS_HELPER(save(a, "float.onnx"));
    QS_HELPER(save(b, "quantized.onnx"));
    QS_HELPER(saveTexts());
    const SnapshotPtr found = compared();
    m_data.clear();
    QVERIFY(found);
    QVERIFY(*found->comparison->outputs.at(0).similarity.sqnrDb > 30);
    QVERIFY(found->comparison->network && found->comparison->network->same());
}

/// What nothing implies is named.
void InterfaceTests::otherInputs()
{
    SmallModel a = text({}, false), b = text({ false, DType::Undefined, "shift" }, true);
    QS_HELPER(save(a, "float.onnx"));
    QS_HELPER(save(b, "quantized.onnx"));
    QS_HELPER(saveTexts());
    const auto built = buildSnapshot(asked(), nullptr, {}, {});
    m_data.clear();
    QVERIFY(!built.ok());
    QVERIFY(QString::fromStdString(issueText(built.issue())).contains("takes 'shift', the float model does not"));
}

/// No more is said than what sizes and codes tell.
void InterfaceTests::refusals()
{
    const auto said = [&](SmallModel a, SmallModel b) {
        save(a, "float.onnx");
        save(b, "quantized.onnx");
        const auto built = buildSnapshot(asked(), nullptr, {}, {});
        return QString::fromStdString(built.ok() ? std::string() : issueText(built.issue()));
    };
    QVERIFY(said(product(2, false), product(4, true)).contains("no data fill both batches"));
    QVERIFY(said(product(1, false), onCodes<int8_t>(3, false, false)).contains("takes codes (int8)"));
    SmallModel turned({}), other({});
    turned.input("image", { 1, 5, 3, 6 }).node("Relu", { "image" }, { "y" }).output("y");
    other.input("image", { 1, 3, 5, 6 }).node("Relu", { "image" }, { "y" }).output("y");
    QVERIFY(said(std::move(other), std::move(turned)).contains("in another order"));
}

/// What is saved after a mend takes what the file did.
void InterfaceTests::restored()
{
    SmallModel codes = onCodes<int8_t>(3, true, true);
    const Prepared made = codes.finish();
    const std::shared_ptr<const Model> model(made.plan, &made.plan->model());
    GraphDraft draft(model);
    const auto fitted = fitInput(draft, *made.view, "x", { DType::Float32, toDims({ 1, 4 }), {} });
    QVERIFY(fitted);
    const auto asReals = draft.build();
    QVERIFY(asReals.ok());
    QCOMPARE((*asReals)->graph.value((*asReals)->graph.inputs()[0]).type.dtype, DType::Float32);
    GraphDraft again(*asReals);
    restore(again, *fitted);
    const auto restored = again.build();
    QVERIFY(restored.ok());
    const Graph& graph = (*restored)->graph;
    QCOMPARE(graph.value(graph.inputs()[0]).type.dtype, DType::Int8);
    QCOMPARE(graph.nodes().size(), model->graph.nodes().size());
    QCOMPARE(graph.value(graph.findValue("x_moved")).type.dtype, DType::Int8);
}

void InterfaceTests::ordersOfAxes()
{
    const auto order
        = [](const Shape& given, const Shape& taken) { return channelOrder(toDims(given), toDims(taken)); };
    QCOMPARE(order({ kOpen, 3, 20, 24 }, { 1, 20, 24, 3 }), (std::vector<int64_t> { 0, 2, 3, 1 }));
    QCOMPARE(order({ 1, 20, 24, 3 }, { 1, 3, 20, 24 }), (std::vector<int64_t> { 0, 3, 1, 2 }));
    QCOMPARE(order({ 1, 2, 16 }, { 1, 16, 2 }), (std::vector<int64_t> { 0, 2, 1 }));
    QVERIFY(order({ 1, 3, 3, 3 }, { 1, 3, 3, 3 }).empty()); // as they are
    QVERIFY(order({ 1, 3, 20, 24 }, { 1, 24, 20, 3 }).empty()); // turned pictures, too
    QVERIFY(order({ 1, 3, 20, 20 }, { 1, kOpen, kOpen, 20 }).empty()); // fits as it is
    QVERIFY(order({ 3, 4 }, { 4, 3 }).empty());
    QVERIFY(order({ 1, kOpen, 40 }, { 1, kOpen, 32 }).empty()); // open sizes tell no order
}

void InterfaceTests::columnsOfScores_data()
{
    QTest::addColumn<qint64>("wanted");
    QTest::addColumn<bool>("cut");
    QTest::newRow("fewer") << qint64(4) << true;
    QTest::newRow("as many") << qint64(6) << false;
    QTest::newRow("more") << qint64(8) << false;
}

/// Of a padded vocabulary the columns are compared that both files have; the file keeps its own.
void InterfaceTests::columnsOfScores()
{
    QFETCH(const qint64, wanted);
    QFETCH(const bool, cut);
    const Prepared padded = SmallModel("padded")
                                .input("x", { 1, kOpen, 3 })
                                .constant("w", Tensor::of<float>({ 3, 6 }, std::vector<float>(18, 0.5f)))
                                .node("MatMul", { "x", "w" }, { "y" })
                                .output("y")
                                .finish();
    GraphDraft draft(std::shared_ptr<const Model>(padded.plan, &padded.plan->model()));
    const auto fitted = fitOutput(draft, "y", toDims({ 1, kOpen, 6 }), toDims({ 1, kOpen, wanted }));
    QCOMPARE(fitted.has_value(), cut);
    if (!cut)
        return;
    QVERIFY(fitted->order.empty() && fitted->isOutput);
    const auto made = draft.build();
    QVERIFY(made.ok());
    const auto plan = Plan::make(*made);
    const auto dims = plan->facts().of(plan->graph().findValue("y")).dims;
    QVERIFY(dims && dims->back().value == wanted);
    GraphDraft again(*made);
    restore(again, *fitted);
    const auto restored = again.build();
    QVERIFY(restored.ok());
    QCOMPARE((*restored)->graph.nodes().size(), size_t(1));
}

QTEST_APPLESS_MAIN(InterfaceTests)
#include "interface_test.moc"
