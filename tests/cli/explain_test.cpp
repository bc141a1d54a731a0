// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/array_file.h"
#include "core/tensor/convert.h"
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

using namespace qs::test;
using nlohmann::json;

namespace {

const QString kUnit = "/depthwise/relu/Relu_output_0_QuantizeLinear_Output";

QString placeText(const std::vector<int64_t>& at)
{
    QStringList list;
    for (const int64_t i : at)
        list << QString::number(i);
    return list.join(',');
}

json explained(const QString& tensor, const QString& at, const QStringList& more = {}, const QString& model = kQdq)
{
    const Outcome o = quantscope(
        QStringList { "explain", model, "--data", kData, "--tensor", tensor, "--at", at, "--json", "-" } + more);
    if (o.code != 0)
        qFatal("%s", o.err.constData());
    return parsed(o.out);
}

double number(const json& value) { return value.is_null() ? 0 : value.get<double>(); }

/// One element as a user asks for it.
class ExplainTests : public QObject {
    Q_OBJECT
private slots:
    /// The document is that of the contract, and an integer product adds up.
    void integerProduct()
    {
        for (const QString profile : { "integer", "integer-avx2" }) {
            const json e = explained(kUnit, "0,10,1,1", { "--arithmetic", profile, "--sample", "3" });
            for (const char* key : { "schema_version", "tensor", "at", "node", "op_type", "kind", "value", "code",
                     "scale", "zero_point", "terms", "bias", "bias_code", "accumulator", "multiplier",
                     "before_rounding", "saturated_pairs", "steps" })
                QVERIFY2(e.contains(key), key);
            QCOMPARE(e["kind"], json("integer"));
            QCOMPARE(e["op_type"], json("Conv"));
            QCOMPARE(e["unit"]["operator"], json("QLinearConv"));
            QCOMPARE(e["sample"], json(3));
            QCOMPARE(e["confirmed"], json(true));
            int64_t sum = e["bias_code"];
            for (const json& t : e["terms"]) {
                sum += (t["a_code"].get<int64_t>() - t["a_zero_point"].get<int64_t>())
                    * (t["b_code"].get<int64_t>() - t["b_zero_point"].get<int64_t>());
                QCOMPARE(t["a_at"].size(), size_t(4));
            }
            QCOMPARE(e["accumulator"].get<int64_t>(), sum); // a depthwise convolution adds nothing in 16 bits
            const double quotient = double(float(sum) * e["multiplier"].get<float>());
            QCOMPARE(e["before_rounding"].get<double>(), quotient);
            const double code = std::clamp(std::nearbyint(quotient) + e["zero_point"].get<double>(), 0.0, 255.0);
            QCOMPARE(e["code"].get<double>(), code);
            QCOMPARE(e["value"], e["code"]);
        }
    }

    void floatProduct()
    {
        const json e = explained("scores_QuantizeLinear_Input", "0,4");
        QCOMPARE(e["kind"], json("float"));
        double sum = e["bias"];
        for (const json& t : e["terms"]) {
            sum += t["a"].get<double>() * t["b"].get<double>();
            QVERIFY(!t["a_code"].is_null() && !t["b_code"].is_null());
        }
        QCOMPARE(e["terms"].size(), size_t(32));
        QVERIFY(std::abs(sum - e["value"].get<double>()) < 1e-5);
        QVERIFY(e["accumulator"].is_null() && e["saturated_pairs"].is_null());
    }

    void quantizers()
    {
        const json q = explained(kUnit, "0,1,2,3");
        QCOMPARE(q["kind"], json("quantize"));
        QCOMPARE(q["value"], q["code"]);
        const json dq = explained("scores", "0,1");
        QCOMPARE(dq["kind"], json("dequantize"));
        QCOMPARE(dq["terms"].size(), size_t(1));
        QVERIFY(dq["terms"][0]["b"].is_null());
        QCOMPARE(float((dq["code"].get<int64_t>() - dq["zero_point"].get<int64_t>())) * dq["scale"].get<float>(),
            dq["value"].get<float>());
        QCOMPARE(dq["behind"]["kind"], json("quantize"));
    }

    /// What `run` writes is what is explained, for elements of all tensors that there are.
    void isWhatRunGives_data()
    {
        QTest::addColumn<QString>("profile");
        for (const char* profile : { "simulated", "integer", "integer-avx2" })
            QTest::newRow(profile) << QString(profile);
    }

    void isWhatRunGives()
    {
        QFETCH(const QString, profile);
        QTemporaryDir folder;
        const QString file = folder.filePath("all.npz");
        QCOMPARE(quantscope({ "run", kQdq, "--data", kData, "--limit", "2", "--all-tensors", "--out", file,
                                "--arithmetic", profile, "--quiet" })
                     .code,
            0);
        const auto archive = qs::ArrayArchive::open(file.toStdString());
        QVERIFY(archive.ok());
        const uint32_t seed = std::random_device {}();
        std::mt19937 random(seed);
        for (const char* name :
            { "image_QuantizeLinear_Output", "image_DequantizeLinear_Output",
                "/stem/relu/Relu_output_0_QuantizeLinear_Output", "/block/relu/Relu_output_0_QuantizeLinear_Output",
                "/pool/MaxPool_output_0_QuantizeLinear_Output", "/pointwise/relu/Relu_output_0_DequantizeLinear_Output",
                "/average/GlobalAveragePool_output_0_QuantizeLinear_Output",
                "/Flatten_output_0_DequantizeLinear_Output", "scores_QuantizeLinear_Output", "scores" }) {
            auto array = archive->array(name);
            QVERIFY2(array.ok() && array->prepare(2).ok(), name);
            const qs::Tensor all = *array->items(1, 1);
            std::vector<int64_t> at;
            int64_t element = 0;
            for (size_t d = 1; d < all.rank(); ++d) {
                at.push_back(int64_t(random() % size_t(all.dim(d))));
                element = element * all.dim(d) + at.back();
            }
            const json e = explained(name, placeText(at), { "--arithmetic", profile, "--sample", "1" });
            QVERIFY2(e["value"].get<double>() == qs::elementAsDouble(all, element),
                qPrintable(QString("%1 %2, seed %3").arg(name, placeText(at)).arg(seed)));
            QVERIFY2(e["confirmed"] != json(false), name);
        }
    }

    void differenceAddsUp()
    {
        for (const QString profile : { "simulated", "integer", "integer-avx2" }) {
            const json e = explained(
                "scores_QuantizeLinear_Output", "0,6", { "--float", kFloat, "--arithmetic", profile, "--sample", "5" });
            const json& d = e["difference"];
            const double sum = number(d["input"]) + number(d["weight"]) + number(d["bias"]) + number(d["rounding"])
                + number(d["clipping"]);
            QVERIFY(std::abs(sum - d["total"].get<double>()) < 1e-9);
            QVERIFY(d["weight"].get<double>() != 0);
            QCOMPARE(e["difference_detail"]["float_tensor"], json("scores"));
            QCOMPARE(e["real"].get<double>() - e["difference_detail"]["float"].get<double>(), d["total"].get<double>());
        }
        QVERIFY(!explained("scores", "0,6").contains("difference"));
    }

    void textShowsTheLargestTerms()
    {
        const QStringList ask { "explain", kQdq, "--data", kData, "--tensor", "/block/relu/Relu_output_0", "--at",
            "0,3,4,4" };
        const Outcome o = quantscope(ask);
        QCOMPARE(o.code, 0);
        QVERIFY(o.out.contains("/block/relu/Relu_output_0[0, 3, 4, 4]"));
        QVERIFY(o.out.contains("made by Add"));
        const Outcome first = quantscope(
            { "explain", kQdq, "--data", kData, "--tensor", "/block/second/Conv_output_0", "--at", "0,3,4,4" });
        QVERIFY(first.out.contains("the 24 largest of 144"));
        const Outcome all = quantscope({ "explain", kQdq, "--data", kData, "--tensor", "/block/second/Conv_output_0",
            "--at", "0,3,4,4", "--verbose" });
        QVERIFY(!all.out.contains("largest of"));
        QVERIFY(all.out.count('\n') > 144);
    }

    void oneSentence()
    {
        const QStringList ask { "explain", kQdq, "--data", kData };
        QS_EXPECT(3, { "'scores_scale'" }, ask + QStringList({ "--tensor", "score_scale", "--at", "0" }));
        QS_EXPECT(3, QStringList({ "there is no tensor", "'scores'" }),
            ask + QStringList({ "--tensor", "Scores", "--at", "0,1" }));
        QS_EXPECT(2, QStringList({ "1x10", "axis 1" }), ask + QStringList({ "--tensor", "scores", "--at", "0,10" }));
        QS_EXPECT(2, QStringList({ "1x10", "2 indices" }), ask + QStringList({ "--tensor", "scores", "--at", "0" }));
        for (const QString at : { "0,x", "0,", ",0", "0,-1", "0,99999999999999999999", "0 1" })
            QS_EXPECT(2, { "--at" }, ask + QStringList({ "--tensor", "scores", "--at=" + at }));
        QS_EXPECT(2, { "sample" }, ask + QStringList({ "--tensor", "scores", "--at", "0,1", "--sample", "200" }));
        QS_EXPECT(2, { "--sample" }, ask + QStringList({ "--tensor", "scores", "--at", "0,1", "--sample=-1" }));
        QS_EXPECT(3, QStringList({ "fused", "the same element of '/stem/relu/Relu_output_0_QuantizeLinear_Output'" }),
            ask
                + QStringList(
                    { "--tensor", "/stem/relu/Relu_output_0", "--at", "0,0,0,0", "--arithmetic", "integer" }));
        QS_EXPECT(2, { "integer-avx9" },
            ask + QStringList({ "--tensor", "scores", "--at", "0,1", "--arithmetic", "integer-avx9" }));
        QS_EXPECT(2, { "--tensor" }, ask);
    }
};

} // namespace

int qs::test::runExplainTests(int argc, char** argv)
{
    ExplainTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "explain_test.moc"
