// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/expression/evaluate.h"
#include "core/lesson/live/live_text.h"

#include <QTest>

#include <map>

using namespace qs;

namespace {

/// Single names with values, and twice as much before.
class Words : public Vocabulary {
public:
    explicit Words(double factor, const Vocabulary* earlier = nullptr)
        : m_factor(factor)
        , m_earlier(earlier)
    {
    }
    Result<LessonValue> find(const std::vector<NamedPart>& path) const override
    {
        if (path.front().name == "x")
            return LessonValue(3.5 * m_factor);
        if (path.front().name == "word")
            return LessonValue(std::string("uint8"));
        if (path.front().name == "row" && path.size() == 2 && path.front().arguments.size() == 1)
            return LessonValue(std::get<double>(path.front().arguments[0]) * 10);
        return NoVocabulary().find(path);
    }
    const Vocabulary* before() const override { return m_earlier; }

private:
    double m_factor;
    const Vocabulary* m_earlier;
};

QString computed(const QString& text)
{
    const Words earlier(2);
    const auto expression = parseExpression(text.toStdString());
    if (!expression.ok())
        return "error: " + QString::fromStdString(expression.issue().what);
    const auto value = evaluate(*expression, Words(1, &earlier));
    if (!value.ok())
        return "error: " + QString::fromStdString(value.issue().what);
    return QString::fromStdString(*valueText(*value));
}

} // namespace

class LessonExpressionTest : public QObject {
    Q_OBJECT
private slots:
    void values_data();
    void values();
    void faults_data();
    void faults();
    void nestedDeeply();
    void longChains();
    void texts_data();
    void texts();
};

void LessonExpressionTest::values_data()
{
    QTest::addColumn<QString>("value");
    const std::map<const char*, const char*> cases { { "1 + 2 * 3", "7" }, { "(1 + 2) * 3", "9" },
        { "10 - 2 - 3", "5" }, { "16 / 4 / 2", "2" }, { "-2 * -3", "6" }, { "--2", "2" }, { "2 - -2", "4" },
        { "1.5e2", "150" }, { ".5", "0.5" }, { "x * 2", "7" }, { "before(x)", "7" }, { "before(x) - x", "3.5" },
        { "row(4).n + 1", "41" }, { "min(3, 1, 2)", "1" }, { "max(3, x)", "3.5" }, { "abs(-4)", "4" },
        { "round(2.5)", "2" }, { "round(3.5)", "4" }, { "round(-0.5)", "0" }, { "floor(-1.5)", "-2" },
        { "sqrt(9)", "3" }, { "20 * log10(10)", "20" }, { "code(1, 0.5, 10, 'uint8')", "12" },
        { "code(-100, 0.5, 10, 'uint8')", "0" }, { "code(100, 0.5, 0, \"int8\")", "127" },
        { "code(1.25, 0.5, 0, 'int4')", "2" }, { "1 < 2", "true" }, { "2 <= 1", "false" }, { "3 >= 3", "true" },
        { "1 == 1 and 2 != 2", "false" }, { "1 > 2 or 2 > 1", "true" }, { "not 1 > 2", "true" },
        { "not (true and false) or false", "true" }, { "word", "uint8" }, { "word == 'uint8'", "true" },
        { "word != \"int8\"", "true" }, { "'it\\'s'", "it's" }, { "true", "true" } };
    for (const auto& [text, value] : cases)
        QTest::newRow(text) << value;
}

void LessonExpressionTest::values()
{
    QFETCH(QString, value);
    QCOMPARE(computed(QTest::currentDataTag()), value);
}

void LessonExpressionTest::faults_data()
{
    QTest::addColumn<QString>("fault");
    const std::map<const char*, const char*> cases { { "", "the expression ends too early at character 1" },
        { "1 +", "the expression ends too early at character 4" }, { "1 2", "'2' is not expected at character 3" },
        { "(1", "a ')' is missing at character 3" }, { "x = 1", "'=' is no comparison" },
        { "1 < 2 < 3", "two comparisons in a row" }, { "'abc", "a text without its end at character 1" },
        { "2x", "a number goes on as a name" }, { "1.2.3", "a number goes on as a name" },
        { "1e999", "no number that can be" }, { "a.", "a name is missing at character 3" },
        { "min(1,", "the expression ends too early" }, { "$", "'$' is not expected" },
        { "y", "'y' is not known here, at character 1" }, { "1 / (x - 3.5)", "a division by zero at character 6" },
        { "x and true", "a condition is needed at character 1" }, { "1 + true", "a number is needed at character 5" },
        { "true < false", "'<' compares numbers" }, { "1 == 'a'", "things of different kinds are compared" },
        { "1e300 * 1e300", "a result beyond all numbers" }, { "sqrt(-1)", "sqrt() gives no number" },
        { "log10(0)", "log10() gives no number" }, { "min()", "min() takes 1 to 20 numbers" },
        { "abs(1, 2)", "abs() takes one number" }, { "code(1, 0, 0, 'uint8')", "a scale above 0" },
        { "code(1, 1, 0, 'float32')", "an integer type" }, { "before(1, 2)", "before() takes one expression" },
        { "before(before(x))", "there is no before() in this step" }, { "system('ls')", "'system' is not known here" },
        { "true or y", "'y' is not known here" } };
    for (const auto& [text, fault] : cases)
        QTest::newRow(text) << fault;
}

void LessonExpressionTest::faults()
{
    QFETCH(QString, fault);
    const QString said = computed(QTest::currentDataTag());
    QVERIFY2(said.startsWith("error: ") && said.contains(fault), qPrintable(said));
}

void LessonExpressionTest::nestedDeeply()
{
    for (const char* opening : { "(", "-", "not ", "min(", "before(", "x.y(" }) {
        const QString inside = QString(opening).repeated(900);
        QVERIFY2(computed(inside.left(3900) + "1").contains("more than 40 levels"), opening);
        QVERIFY2(computed(QString(opening).repeated(100'000)).contains("bytes, more than 4000"), opening);
    }
    QCOMPARE(computed(QString("(").repeated(40) + "1" + QString(")").repeated(40)), QString("1"));
}

/// Chains do not nest: they may be as long as an expression.
void LessonExpressionTest::longChains()
{
    QCOMPARE(computed("1" + QString("+1").repeated(1900)), QString("1901"));
    QCOMPARE(computed("true" + QString(" or true").repeated(450)), QString("true"));
}

void LessonExpressionTest::texts_data()
{
    QTest::addColumn<QString>("shown");
    const std::map<const char*, const char*> cases { { "plain", "plain" }, { "{= x}", "3.5" },
        { "a {= x | fixed 2} b", "a 3.50 b" }, { "{= 2 / 3 | digits 3}", "0.667" },
        { "{= 0.1234 | percent 1}", "12.3 %" }, { "{= 2.5 | whole}", "2" }, { "{= -0.001 | fixed 1}", "0.0" },
        { "{= -2 * x | fixed 1} dB of a-b", "−7.0 dB of a-b" }, { "{= -1e-9}", "−1e−09" }, { "{= '}' }", "}" },
        { "\\{x} {= word}", "{x} uint8" }, { "{= x", "error: '{= x' has no '}'" },
        { "{= y}", "error: '{= y}': 'y' is not known here, at character 1" },
        { "{= x | loud}", "error: '{= x}': 'loud' is no format; use 'fixed 2', 'digits 3', 'percent 1' or 'whole'" },
        { "{= x | fixed 99}",
            "error: '{= x}': 'fixed 99' is no format; use 'fixed 2', 'digits 3', 'percent 1' or "
            "'whole'" },
        { "{= word | fixed 1}", "error: '{= word}': the format 'fixed 1' is one of numbers" } };
    for (const auto& [text, shown] : cases)
        QTest::newRow(text) << shown;
}

void LessonExpressionTest::texts()
{
    QFETCH(QString, shown);
    const auto text = liveText(QTest::currentDataTag(), Words(1));
    QCOMPARE(QString::fromStdString(text.ok() ? *text : "error: " + text.issue().what), shown);
}

QTEST_GUILESS_MAIN(LessonExpressionTest)
#include "expression_test.moc"
