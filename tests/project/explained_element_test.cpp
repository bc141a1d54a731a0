// SPDX-License-Identifier: GPL-3.0-or-later
// Elements of a snapshot's tensors are explained as they are shown.
#include "core/base/issue_text.h"
#include "core/project/about/explained_element.h"
#include "core/project/snapshot/build_snapshot.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace qs;

namespace {

const std::string kExamples = QS_SOURCE_DIR "/resources/examples/";

/// `quantized`: a file, or the format of a recipe.
SnapshotPtr built(const char* quantized, ArithmeticProfile profile, bool alone = false)
{
    Inputs inputs;
    inputs.floatPath = kExamples + "digits_float.onnx";
    if (alone) {
        inputs.floatPath = kExamples + quantized;
        inputs.compare = false;
    } else if (const auto format = valueIn(kRecipeFormats, quantized)) {
        inputs.recipe.emplace();
        inputs.recipe->format = *format;
    } else {
        inputs.quantPath = kExamples + quantized;
    }
    inputs.data.spec = kExamples + "digits_samples.npz";
    inputs.data.limit = 8;
    inputs.profile = profile;
    inputs.run = false;
    auto snapshot = buildSnapshot(inputs, nullptr, {}, {});
    if (!snapshot)
        qFatal("%s", issueText(snapshot.issue()).c_str());
    return std::move(snapshot).value();
}

/// Of the quantized side, or of the model that is open alone, in its arithmetic.
std::vector<TensorPlace> visible(const Snapshot& s, bool quantized)
{
    const LoadedModel& model = quantized ? *s.quantModel : *s.floatModel;
    const auto plan = Plan::make(model.model, { KernelMode::Fast, s.inputs.profile });
    std::vector<TensorPlace> list;
    for (size_t i = 0; i < model.graph().values().size(); ++i)
        if (!plan->hidden(ValueId(i)) && !plan->blocked(ValueId(i)))
            list.push_back({ quantized, ValueId(i), {} });
    return list;
}

double sumOf(const ElementDifference& d)
{
    return d.input + d.weight + d.bias + d.rounding + d.clipping + d.saturation + d.summation;
}

} // namespace

class ExplainedElementTest : public QObject {
    Q_OBJECT
private slots:
    void init() { m_random.seed(m_seed = std::random_device {}()); }

    void everyTensor_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<int>("profile");
        for (const char* file :
            { "digits_qdq.onnx", "digits_qdq_narrow.onnx", "qdq", "qoperator", "dynamic", "weight-only" })
            for (int profile = 0; profile < 3; ++profile)
                QTest::addRow("%s, %s", file, kProfileNames[size_t(profile)].data()) << QByteArray(file) << profile;
    }

    /// The numbers are those that readValues() shows, the steps give them, the difference is split without a rest.
    void everyTensor()
    {
        QFETCH(QByteArray, file);
        QFETCH(int, profile);
        const SnapshotPtr s = built(file.constData(), ArithmeticProfile(profile));
        size_t split = 0;
        for (const TensorPlace& place : visible(*s, true)) {
            const size_t sample = m_random() % 8;
            const auto shown = readValues(*s, place, sample, {});
            if (!shown || shown->count() == 0 || !shown->quantized)
                continue;
            const auto element = int64_t(m_random() % shown->count());
            const std::string where = nameOf(*s, place) + "[" + std::to_string(element) + "], sample "
                + std::to_string(sample) + ", seed " + std::to_string(m_seed);
            const Shape shape = shapeIn(*s, place, sample);
            if (elementCount(shape) != int64_t(shown->count()))
                continue;
            const auto e = explainElement(*s, { place, placeOf(shape, element), sample, true }, {});
            QVERIFY2(e.ok(), e.ok() ? "" : (where + issueText(e.issue())).c_str());
            QVERIFY2(e->confirmed != false, where.c_str());
            if (!isConstant(*s, place) && e->hasCodes() && shown->quantized->hasCodes())
                QVERIFY2(*e->code == shown->quantized->code(size_t(element)), where.c_str());
            if (!e->difference)
                continue;
            const ElementDifference& d = *e->difference;
            QVERIFY2(std::abs(sumOf(d) - d.total) <= 1e-9 * (1 + std::abs(d.total)), where.c_str());
            split += d.reservation.empty();
        }
        QVERIFY2(split > 4, std::to_string(split).c_str());
    }

    void aModelAlone()
    {
        for (int profile = 0; profile < 3; ++profile) {
            const SnapshotPtr s = built("digits_qdq.onnx", ArithmeticProfile(profile), true);
            for (const TensorPlace& place : visible(*s, false)) {
                const Shape shape = shapeIn(*s, place, 1);
                const auto element = int64_t(m_random() % size_t(*elementCount(shape)));
                const auto e = explainElement(*s, { place, placeOf(shape, element), 1, true }, {});
                QVERIFY2(e.ok(), e.ok() ? "" : issueText(e.issue()).c_str());
                QVERIFY(e->profile == ArithmeticProfile(profile) && e->confirmed != false && !e->difference);
            }
        }
    }

    /// What a float tensor is compared with is explained against the same number.
    void theQuantizedSideOfAFloatTensor()
    {
        for (const char* file : { "digits_qdq.onnx", "qoperator" })
            for (int profile = 0; profile < 3; ++profile) {
                const SnapshotPtr s = built(file, ArithmeticProfile(profile));
                size_t seen = 0;
                for (const ValuePair& pair : s->alignment->values) {
                    const TensorPlace place = quantizedSide(*s, { false, pair.floatValue, {} });
                    if (!place.quantized)
                        continue;
                    const auto shown = readValues(*s, { false, pair.floatValue, {} }, 2, {});
                    const Shape shape = shapeIn(*s, place, 2);
                    QVERIFY(shown.ok() && shown->reference && elementCount(shape) == int64_t(shown->count()));
                    const auto element = int64_t(m_random() % shown->count());
                    const auto e = explainElement(*s, { place, placeOf(shape, element), 2, true }, {});
                    QVERIFY2(e.ok() && e->difference, nameOf(*s, place).c_str());
                    const double cut = std::abs(e->difference->reference - shown->reference->real(size_t(element)));
                    QVERIFY(cut == 0 || e->difference->reference == 0); // an activation that the codes do
                    ++seen;
                }
                QVERIFY(seen > 5);
                QVERIFY(!quantizedSide(*s, { false, ValueId(), {} }).quantized);
            }
    }

private:
    /// The tensor's own shape for one sample: a place of the wrong rank is refused with it.
    static Shape shapeIn(const Snapshot& s, const TensorPlace& place, size_t sample)
    {
        for (size_t rank = 0; rank <= 5; ++rank)
            if (const auto e = explainElement(s, { place, Shape(rank, 0), sample, true }, {}); e.ok())
                return e->shape;
        return {};
    }
    uint32_t m_seed = 0;
    std::mt19937 m_random;
};

QTEST_APPLESS_MAIN(ExplainedElementTest)

#include "explained_element_test.moc"
