// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/array_file.h"
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <nlohmann/json.hpp>

using namespace qs::test;
using nlohmann::json;

namespace {

QStringList comparingWith(const QString& quant, const QStringList& more)
{
    return QStringList { "compare", kFloat, quant, "--data", kData } + more;
}

/// The keys that are missing.
QString missing(const json& object, const QStringList& keys)
{
    QStringList list;
    for (const QString& key : keys)
        if (!object.contains(key.toStdString()))
            list << key;
    return list.join(' ');
}

#define VERIFY_KEYS(object, ...)                                                                                       \
    QVERIFY2(missing(object, QStringList __VA_ARGS__).isEmpty(),                                                       \
        qPrintable("missing: " + missing(object, QStringList __VA_ARGS__)))

const json* named(const json& list, const std::string& name)
{
    for (const json& entry : list)
        if (entry["name"] == name)
            return &entry;
    return nullptr;
}

/// Rows of a CSV file (RFC 4180).
std::vector<QStringList> csvRows(const QByteArray& text)
{
    std::vector<QStringList> rows(1);
    QString cell;
    bool quoted = false;
    const QString all = QString::fromUtf8(text);
    for (qsizetype i = 0; i < all.size(); ++i) {
        const QChar c = all[i];
        if (quoted && c == '"' && i + 1 < all.size() && all[i + 1] == '"') {
            cell += c;
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == ',' || c == '\n')) {
            rows.back() << cell;
            cell.clear();
            if (c == '\n')
                rows.emplace_back();
        } else if (quoted || c != '\r') {
            cell += c;
        }
    }
    rows.pop_back();
    return rows;
}

} // namespace

class ResultsTests : public QObject {
    Q_OBJECT
private slots:
    void infoJson();
    void compareJsonKeys();
    void compareNumbers();
    void findsTheBadCalibration();
    void convolutionsArePaired();
    void equalForAnyThreads();
    void stdoutHoldsTheJsonAlone();
    void csvParses();
    void htmlIsSelfContained();
    void tableIsReadable();
    void runWritesDataAgain();
    void tensorsByGlobAndRegex();
    void perNodeTimes();
    void localFillsNodeAlone();
    void warningsAndQuiet();

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QTemporaryDir m_folder;
};

void ResultsTests::infoJson()
{
    const Outcome outcome = quantscope({ "info", kQdq, "--json", "-" });
    QCOMPARE(outcome.code, 0);
    const json info = parsed(outcome.out);
    VERIFY_KEYS(info,
        { "schema_version", "path", "ir_version", "producer", "opset_imports", "inputs", "outputs", "nodes",
            "node_types", "parameters", "macs", "form", "dtypes", "bits", "granularity", "unsupported", "origins" });
    QCOMPARE(info["schema_version"], json(1));
    QCOMPARE(info["form"], json("qdq"));
    QCOMPARE(info["nodes"], json(44));
    QCOMPARE(info["node_types"]["QuantizeLinear"], json(11));
    QCOMPARE(info["opset_imports"][""], json(17));
    QCOMPARE(info["dtypes"]["activations"], json({ "uint8" }));
    QCOMPARE(info["dtypes"]["weights"], json({ "int8" }));
    QCOMPARE(info["inputs"][0], (json { { "name", "image" }, { "dtype", "float32" }, { "shape", { "N", 1, 8, 8 } } }));
    QCOMPARE(info["unsupported"], json::array());
    const json plain = parsed(quantscope({ "info", kFloat, "--json", "-" }).out);
    QCOMPARE(plain["form"], json("float"));
    QCOMPARE(plain["parameters"], info["parameters"]);
    QCOMPARE(plain["granularity"], json::array());
    VERIFY_KEYS(plain["origins"], { "module_path", "stack_trace", "name_scope", "unknown" });
}

void ResultsTests::compareJsonKeys()
{
    const Outcome outcome = quantscope(comparingWith(kQdq, { "--limit", "4", "--json", "-" }));
    QCOMPARE(outcome.code, 0);
    const json c = parsed(outcome.out);
    VERIFY_KEYS(c,
        { "schema_version", "float", "quantized", "samples", "arithmetic", "outputs", "accuracy", "activations",
            "weights", "unmatched", "unmatched_why", "inside", "findings", "time_ms", "peak_memory_bytes" });
    VERIFY_KEYS(c["float"], { "path", "nodes" });
    VERIFY_KEYS(c["quantized"], { "path", "nodes", "form" });
    VERIFY_KEYS(c["accuracy"], { "labels", "float", "quantized", "flipped" });
    for (const char* list : { "unmatched", "unmatched_why", "inside" })
        VERIFY_KEYS(c[list], { "float", "quantized" });
    VERIFY_KEYS(c["time_ms"], { "load", "match", "run", "report" });
    QCOMPARE(c["samples"], json(4));
    QCOMPARE(c["arithmetic"], json("simulated"));
    for (const json& o : c["outputs"])
        VERIFY_KEYS(o, { "name", "quantized_name", "sqnr_db", "cosine", "rmse", "max_abs_error", "top1_agreement" });
    for (const json& a : c["activations"]) {
        VERIFY_KEYS(a,
            { "name", "quantized_name", "node", "op_type", "match", "dtype", "scale", "zero_point", "axis", "sqnr_db",
                "local_sqnr_db", "qdq_sqnr_db", "node_sqnr_db", "increase_db", "ideal_sqnr_db", "rmse", "max_abs_error",
                "mean_error", "cosine", "noise", "clipped_fraction", "range", "observed_range", "implementation" });
        VERIFY_KEYS(a["match"], { "method", "confidence" });
        VERIFY_KEYS(a["noise"], { "rounding", "clipping", "inherited", "weights", "kernel", "inputs" });
        QVERIFY(a["scale"].is_array() && a["zero_point"].is_array() && a["range"].is_array()
            && a["observed_range"].is_array());
        QVERIFY(a["implementation"].is_null() && a["node_sqnr_db"].is_null());
        if (a["scale"].empty()) {
            QCOMPARE(a["dtype"], json("float32"));
            QVERIFY(a["range"].empty() && a["local_sqnr_db"].is_null());
        }
    }
    QCOMPARE(c["weights"].size(), size_t(12)); // five convolutions and a linear layer, each with a bias
    for (const json& w : c["weights"]) {
        VERIFY_KEYS(w,
            { "name", "quantized_name", "node", "op_type", "dtype", "axis", "scale", "zero_point", "sqnr_db",
                "ideal_sqnr_db", "rmse", "max_abs_error", "channel_sqnr_db" });
        QVERIFY(w["channel_sqnr_db"].is_array());
    }
    for (const json& f : c["findings"])
        VERIFY_KEYS(f, { "rule", "severity", "node", "tensor", "evidence", "remedy" });
    QVERIFY(!outcome.out.contains("NaN") && !outcome.out.contains("nan,") && !outcome.out.contains("Infinity"));
}

void ResultsTests::compareNumbers()
{
    const json c = parsed(quantscope(comparingWith(kQdq, { "--json", "-" })).out);
    QCOMPARE(c["samples"], json(200));
    QCOMPARE(c["accuracy"]["labels"], json(200));
    QCOMPARE(c["accuracy"]["float"], json(1.0));
    QCOMPARE(c["accuracy"]["quantized"], json(1.0));
    QCOMPARE(c["accuracy"]["flipped"], json::array());
    QVERIFY(c["outputs"][0]["sqnr_db"] > 20);
    for (const json& a : c["activations"]) {
        const double mse = std::pow(a["rmse"].get<double>(), 2);
        const json& n = a["noise"];
        const auto part = [&](const char* key) { return n[key].is_null() ? 0.0 : n[key].get<double>(); };
        const double sum = part("rounding") + part("clipping") + part("inherited");
        QVERIFY2(std::fabs(sum - mse) <= 1e-9 * mse + 1e-18, a["name"].get<std::string>().c_str());
        const double made = part("weights") + part("kernel") + part("inputs");
        QVERIFY2(std::fabs(made - part("inherited")) <= 1e-9 * mse + 1e-18, a["name"].get<std::string>().c_str());
    }
    for (const json& f : c["findings"])
        QVERIFY2(f["severity"] != "error", f.dump().c_str());
}

void ResultsTests::findsTheBadCalibration()
{
    const json c = parsed(quantscope(comparingWith(kNarrow, { "--json", "-" })).out);
    QVERIFY(c["accuracy"]["quantized"] < 0.5);
    QCOMPARE(c["accuracy"]["flipped"].size(), size_t(162));
    QVERIFY(!c["findings"].empty());
    QCOMPARE(c["findings"][0]["rule"], json("input_mismatch"));
    QCOMPARE(c["findings"][0]["severity"], json("error"));
    QCOMPARE(c["findings"][0]["tensor"], json("image"));
    QCOMPARE(quantscope(comparingWith(kNarrow, { "--fail-below-sqnr", "10" })).code, 1);
}

void ResultsTests::convolutionsArePaired()
{
    const json c = parsed(quantscope(comparingWith(kQdq, { "--limit", "2", "--json", "-" })).out);
    const json plain = parsed(quantscope({ "info", kFloat, "--json", "-" }).out);
    int convolutions = 0;
    for (const json& a : c["activations"])
        convolutions += a["op_type"] == "Conv";
    QCOMPARE(json(convolutions), plain["node_types"]["Conv"]);
    QCOMPARE(c["unmatched"]["float"], json::array());
    QCOMPARE(c["unmatched"]["quantized"], json::array());
    QCOMPARE(c["activations"].size(), size_t(16)); // the input and what each of the 15 nodes makes
}

void ResultsTests::equalForAnyThreads()
{
    auto once = [](const char* threads) {
        json c = parsed(quantscope(comparingWith(kNarrow, { "--local", "--threads", threads, "--json", "-" })).out);
        c.erase("time_ms");
        c.erase("peak_memory_bytes");
        return c;
    };
    const json one = once("1");
    QVERIFY(one == once("2"));
    QVERIFY(one == once("5"));
}

void ResultsTests::stdoutHoldsTheJsonAlone()
{
    const QString html = path("r.html");
    const Outcome outcome = quantscope(comparingWith(kQdq, { "--limit", "1", "--json", "-", "--html", html }));
    QCOMPARE(outcome.code, 0);
    QVERIFY(outcome.out.startsWith('{') && outcome.out.endsWith("}\n"));
    parsed(outcome.out);
    parsed(quantscope({ "run", kFloat, "--data", kData, "--limit", "1", "--json", "-" }).out);
    // In a file it is the same but for times and memory.
    const QString file = path("r.json");
    const Outcome table = quantscope(comparingWith(kQdq, { "--limit", "1", "--json", file }));
    QVERIFY(!table.out.startsWith('{') && !table.out.isEmpty());
    json a = parsed(outcome.out), b = parsed(contentOf(file));
    for (json* c : { &a, &b }) {
        c->erase("time_ms");
        c->erase("peak_memory_bytes");
    }
    QVERIFY(a == b);
}

void ResultsTests::csvParses()
{
    const QString file = path("r.csv");
    QCOMPARE(quantscope(comparingWith(kQdq, { "--limit", "2", "--csv", file, "--json", path("c.json") })).code, 0);
    const json c = parsed(contentOf(path("c.json")));
    const auto rows = csvRows(contentOf(file));
    QCOMPARE(rows.size(), 1 + c["outputs"].size() + c["activations"].size() + c["weights"].size());
    for (const QStringList& row : rows)
        QCOMPARE(row.size(), rows[0].size());
    const qsizetype name = rows[0].indexOf("name"), sqnr = rows[0].indexOf("sqnr_db"), kind = rows[0].indexOf("kind");
    QVERIFY(name >= 0 && sqnr >= 0 && kind >= 0);
    for (const QStringList& row : rows) {
        if (row[kind] != "activation" || row[sqnr].isEmpty())
            continue;
        const json* a = named(c["activations"], row[name].toStdString());
        QVERIFY2(a, qPrintable(row[name]));
        QCOMPARE(row[sqnr].toDouble(), (*a)["sqnr_db"].get<double>());
    }
}

void ResultsTests::htmlIsSelfContained()
{
    const QString file = path("r.html");
    QCOMPARE(quantscope(comparingWith(kNarrow, { "--limit", "20", "--html", file })).code, 0);
    QByteArray html = contentOf(file);
    QVERIFY(html.startsWith("<!DOCTYPE html") || html.startsWith("<!doctype html"));
    QVERIFY(html.contains("/stem/conv/Conv_output_0"));
    html.replace("http://www.w3.org/", ""); // names of XML namespaces
    for (const char* outside : { "http://", "https://", "src=", "@import", "url(", "<link", "<iframe" })
        QVERIFY2(!html.contains(outside), outside);
}

void ResultsTests::tableIsReadable()
{
    const Outcome outcome = quantscope(comparingWith(kNarrow, {}));
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.err.isEmpty(), outcome.err.constData());
    for (const char* part : { "scores", "dB", "image", "200", "Calibration does not fit the input" })
        QVERIFY2(outcome.out.contains(part), part);
    for (const QByteArray& line : outcome.out.split('\n'))
        QVERIFY2(QString::fromUtf8(line).size() <= 160, line.constData());
}

void ResultsTests::runWritesDataAgain()
{
    const QString first = path("all.npz"), second = path("again.npz");
    QCOMPARE(quantscope({ "run", kFloat, "--data", kData, "--limit", "3", "--all-tensors", "--out", first }).code, 0);
    const auto archive = qs::ArrayArchive::open(first.toStdString());
    QVERIFY(archive.ok());
    QCOMPARE(archive->keys().size(), size_t(16));
    auto image = archive->array("image");
    QVERIFY(image.ok());
    QCOMPARE(image->shape(), (qs::Shape { 3, 1, 1, 8, 8 }));
    // As data it gives the same numbers.
    const Outcome again
        = quantscope({ "run", kFloat, "--data", first, "--tensors", "scores,/pool/*", "--out", second });
    QVERIFY2(again.code == 0, again.err.constData());
    QVERIFY(again.err.contains("warning: ")); // the other arrays are not used
    const auto other = qs::ArrayArchive::open(second.toStdString());
    QVERIFY(other.ok());
    QCOMPARE(other->keys().size(), size_t(2));
    for (const std::string& key : other->keys()) {
        auto a = archive->array(key), b = other->array(key);
        QVERIFY(a.ok() && b.ok() && a->prepare(3).ok() && b->prepare(3).ok());
        const auto x = a->items(0, 3), y = b->items(0, 3);
        QVERIFY(x.ok() && y.ok());
        QCOMPARE(x->shape(), y->shape());
        QVERIFY(std::ranges::equal(x->bytes(), y->bytes()));
    }
    // Every quantized tensor in its own type.
    const QString codes = path("codes.npz");
    QCOMPARE(quantscope({ "run", kQdq, "--data", kData, "--limit", "2", "--all-tensors", "--out", codes }).code, 0);
    const auto quantized = qs::ArrayArchive::open(codes.toStdString());
    QVERIFY(quantized.ok());
    QCOMPARE(quantized->array("image_QuantizeLinear_Output")->dtype(), qs::DType::UInt8);
}

void ResultsTests::tensorsByGlobAndRegex()
{
    auto count = [&](const QStringList& patterns) {
        QStringList arguments { "run", kFloat, "--data", kData, "--limit", "1", "--out", path("t.npz") };
        for (const QString& p : patterns)
            arguments << "--tensors" << p;
        const Outcome outcome = quantscope(arguments);
        if (outcome.code != 0)
            return -outcome.code;
        return int(qs::ArrayArchive::open(path("t.npz").toStdString())->keys().size());
    };
    QCOMPARE(count({ "scores" }), 1);
    QCOMPARE(count({ "/stem/*" }), 2); // the star also takes slashes
    QCOMPARE(count({ "/stem/*,scores" }), 3);
    QCOMPARE(count({ "/stem/*", "scores", "*Conv_output_0" }), 7);
    QCOMPARE(count({ "re:^/(stem|pool)/" }), 3);
    QCOMPARE(count({ "re:Conv_output_0$" }), 5);
    QCOMPARE(count({ "re:^Conv" }), -3);
    QCOMPARE(count({ "Conv" }), -3);
    QCOMPARE(count({ "re:[" }), -2);
}

void ResultsTests::perNodeTimes()
{
    const QStringList run { "run", kFloat, "--data", kData, "--limit", "3", "--per-node" };
    const Outcome printed = quantscope(run);
    QCOMPARE(printed.code, 0);
    QVERIFY(printed.out.contains("mean of 3 runs") && printed.out.contains("Conv") && printed.out.contains(" %"));
    const json nodes = parsed(quantscope(run + QStringList { "--json", "-" }).out)["nodes"];
    QVERIFY(!nodes.empty());
    for (const json& node : nodes)
        QVERIFY(node["name"].is_string() && node["op_type"].is_string() && node["mean_ms"].get<double>() >= 0);
    QVERIFY(!parsed(quantscope({ "run", kFloat, "--data", kData, "--json", "-" }).out).contains("nodes"));
}

void ResultsTests::localFillsNodeAlone()
{
    const json c = parsed(quantscope(comparingWith(kQdq, { "--limit", "3", "--node-alone", "--json", "-" })).out);
    int filled = 0;
    for (const json& a : c["activations"])
        filled += a["node_sqnr_db"].is_number();
    QVERIFY2(filled >= 12, qPrintable(QString::number(filled)));
}

void ResultsTests::warningsAndQuiet()
{
    const QString file = path("w.npz");
    QCOMPARE(quantscope({ "run", kFloat, "--data", kData, "--limit", "2", "--all-tensors", "--out", file }).code, 0);
    const Outcome loud = quantscope({ "run", kFloat, "--data", file });
    QVERIFY(loud.err.contains("warning: ") && !loud.err.contains('\r'));
    const Outcome quiet = quantscope({ "run", kFloat, "--data", file, "--quiet" });
    QCOMPARE(quiet.code, 0);
    QVERIFY2(quiet.err.isEmpty(), quiet.err.constData());
}

int qs::test::runResultsTests(int argc, char** argv)
{
    ResultsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "results_test.moc"
