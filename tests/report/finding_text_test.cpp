// SPDX-License-Identifier: GPL-3.0-or-later
// What tables and pages say of findings and of where noise is made.
#include "core/report/report.h"
#include "tests/support/fake_snapshot.h"

#include <QtTest>

#include <nlohmann/json.hpp>

using namespace qs;

class FindingTextTest : public QObject {
    Q_OBJECT
private slots:
    /// What differs is not what is cut.
    void longNamesStayDifferent()
    {
        Snapshot s = *fake::comparison({});
        Finding& f = s.comparison->findings.front();
        for (int i = 0; i < 4; ++i) {
            FindingPlace place;
            place.node = "/model/layers." + std::to_string(i) + "/a_long_name_that_all_of_them_have/conv";
            f.places.push_back(place);
        }
        const std::string text = compareTable(s, {});
        for (const char* part : { "layers.1", "layers.2", "layers.3" })
            QVERIFY2(text.find(part) != std::string::npos, text.c_str());
    }

    void saysTheCommandOfRemedies()
    {
        Snapshot s = *fake::comparison({});
        auto quantized = std::make_shared<Model>(*s.quantModel->model);
        quantized->path = "models/quant 2.onnx";
        s.quantModel->model = quantized;
        QVERIFY(compareTable(s, {}).find("quantscope-cli quantize") == std::string::npos);
        s.comparison->findings.front().change.kind = RemedyKind::PerChannel;
        const std::string command = "quantscope-cli quantize /models/micro_kws/float.onnx \\\n"
                                    "        --like 'models/quant 2.onnx' \\\n        OPTIONS -o MENDED.onnx";
        QVERIFY2(compareTable(s, {}).find(command + "\n") != std::string::npos, compareTable(s, {}).c_str());
        QVERIFY(compareHtml(s, {}).find("OPTIONS -o MENDED.onnx") != std::string::npos);
    }

    /// Above a histogram of both.
    void pagesSayWhoseValuesAreClipped()
    {
        Snapshot s = *fake::comparison({});
        for (ActivationRow& row : s.comparison->activations) {
            row.clippedFraction = 0.125;
            row.floatClippedFraction = 0.875;
            row.floatHistogram.add(1.F);
        }
        QVERIFY(compareHtml(s, {}).find("clipped 12.5 %, of the float data 87.5 %") != std::string::npos);
    }

    void kernelsHaveTheirShare()
    {
        Snapshot s = *fake::comparison({});
        QVERIFY(compareTable(s, {}).find("kernel") == std::string::npos);
        ActivationRow& row = s.comparison->activations.front();
        row.noise.kernel = 0.75 * *row.accumulated.rmse * *row.accumulated.rmse;
        const std::string text = compareTable(s, { 0, true });
        QVERIFY2(text.find("kernel") != std::string::npos && text.find("75.0 %") != std::string::npos, text.c_str());
        const auto json = nlohmann::json::parse(compareJson(s, {}));
        QCOMPARE(json["activations"][0]["noise"]["kernel"].get<double>(), *row.noise.kernel);
        QVERIFY(compareHtml(s, {}).find("kernel 75.0 %") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(FindingTextTest)
#include "finding_text_test.moc"
