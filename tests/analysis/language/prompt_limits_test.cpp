// SPDX-License-Identifier: GPL-3.0-or-later
// What a graph has room for, told by the tables that its tokens choose from.
#include "core/analysis/tasks/prompt_limits.h"
#include "tests/support/small_model.h"

#include <QtTest>

using namespace qs;
using namespace qs::test;

namespace {

const std::vector<InputSpec> kTokens { { "input_ids", DType::Int64, toDims({ 1, 2 }) } };

/// Tokens go through so many nodes that keep them, then choose rows of tables with so many each.
PromptLimits limitsBehind(size_t nodes, const std::vector<int64_t>& tables)
{
    SmallModel model("chain.onnx");
    model.input("input_ids", { 1, 2 }, DType::Int64);
    std::string last = "input_ids";
    for (size_t i = 0; i < nodes; ++i) {
        const std::string next = "kept_" + std::to_string(i);
        model.node("Identity", { last }, { next });
        last = next;
    }
    for (const int64_t rows : tables) {
        const std::string name = std::to_string(rows);
        model.constant("table_" + name, Tensor::of<float>({ rows, 1 }, std::vector<float>(size_t(rows))));
        model.node("Gather", { "table_" + name, last }, { "row_" + name }).output("row_" + name);
    }
    return promptLimits(model.finish().graph(), kTokens);
}

} // namespace

class PromptLimitsTest : public QObject {
    Q_OBJECT

private slots:
    void fewestRowsOfAll_data()
    {
        QTest::addColumn<size_t>("nodes");
        QTest::newRow("at once") << size_t(0);
        QTest::newRow("behind some") << size_t(3);
        QTest::newRow("behind more than a stack is deep") << size_t(150'000);
    }

    void fewestRowsOfAll()
    {
        QFETCH(size_t, nodes);
        const PromptLimits limits = limitsBehind(nodes, { 9, 7, 8 });
        QCOMPARE(limits.tables.size(), size_t(1));
        QCOMPARE(limits.tables[0].rows, int64_t(7));
        QVERIFY(limits.ids == size_t(0));
    }
};

QTEST_APPLESS_MAIN(PromptLimitsTest)

#include "prompt_limits_test.moc"
