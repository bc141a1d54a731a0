// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/one_line.h"
#include "core/graph/origin/exporter_origin.h"
#include "core/graph/origin/python_text.h"

#include <QtTest>

using namespace qs;

namespace {

using Entries = std::vector<std::pair<std::string_view, std::string_view>>;

std::shared_ptr<const Metadata> metadata(Entries entries, std::string_view docString = {})
{
    return std::make_shared<const Metadata>(Metadata { docString, std::move(entries), nullptr });
}

Node nodeOf(const std::string& name, std::shared_ptr<const Metadata> said, DerivationPtr way = {})
{
    Node node;
    node.name = name;
    node.cameFrom = std::make_shared<const NodeOrigin>(NodeOrigin { std::move(said), std::move(way) });
    return node;
}

DerivationPtr way(Derivation::Kind kind, const std::string& name, DerivationPtr outer = {})
{
    return std::make_shared<const Derivation>(Derivation { kind, { { name, "T", nullptr } }, {}, std::move(outer) });
}

/// "loop<call"
QString chain(const NodeOriginPtr& origin)
{
    QString text;
    for (DerivationPtr step = origin->derivation; step; step = step->outer)
        for (const SourceNode& node : step->nodes)
            text += (text.isEmpty() ? "" : "<") + QString::fromStdString(node.name);
    return text;
}

QString text(const SourceFrame& frame)
{
    return QString::fromStdString(sourceLine(frame) + " in " + frame.function + " | " + frame.code);
}

} // namespace

class OriginTests : public QObject {
    Q_OBJECT
private slots:
    void traces_data();
    void traces();
    void longTracesAreBounded();
    void filesWithoutFoldersAreTold();
    void modulePaths_data();
    void modulePaths();
    void names_data();
    void names();
    void pythonLists_data();
    void pythonLists();
    void oneLineOfAnything_data();
    void oneLineOfAnything();
    void documentationThatIsNoTrace();
    void whatTheCallSays();
    void scopesOfNodes();
    void waysAreJoined();
    void fusedNodesNameTheirSources();
    void whatWasFolded();
};

void OriginTests::traces_data()
{
    QTest::addColumn<QString>("trace");
    QTest::addColumn<int>("frames");
    QTest::addColumn<QString>("shown");
    const QString torch = QStringLiteral("/venv/lib/python3.11/site-packages/torch/nn/modules/conv.py");
    QTest::newRow("dynamo") << "File \"/p/model.py\", line 42, in forward\n    x = self.conv(x)\n  File \"" + torch
            + "\", line 565, in forward\n    return self._conv_forward(input, self.weight, self.bias)"
                            << 2 << "/p/model.py:42 in forward | x = self.conv(x)";
    QTest::newRow("torchscript") << torch + "(560): _conv_forward\n/p/model.py(23): forward\n" + torch
            + "(1778): _wrapped_call_impl\n/p/export.py(35): <module>\n"
                                 << 4 << "/p/model.py:23 in forward | ";
    QTest::newRow("package of models")
        << "File \"/e/site-packages/transformers/modeling_llama.py\", line 7, in forward\n    q = self.q(x)\n"
           "File \"/e/site-packages/torch/nn/modules/linear.py\", line 9, in forward\n    return F.linear(input)"
        << 2 << "/e/site-packages/transformers/modeling_llama.py:7 in forward | q = self.q(x)";
    QTest::newRow("torch built from source") << "/src/pytorch/torch/nn/functional.py(3): relu\n/p/torch/net.py(5): run"
                                             << 2 << "/p/torch/net.py:5 in run | ";
    QTest::newRow("python's own library")
        << "/usr/lib/python3.11/contextlib.py(5): inner\n/p/net.py(6): run" << 2 << "/p/net.py:6 in run | ";
    QTest::newRow("made while running") << "<eval_with_key>.7(4): forward\n/p/net.py(6): run" << 2
                                        << "/p/net.py:6 in run | ";
    QTest::newRow("libraries alone") << torch + "(560): _conv_forward" << 1 << torch + ":560 in _conv_forward | ";
    QTest::newRow("marks") << "  File \"C:\\p q\\net.py\", line 8, in f\n    a + b\n    ~~^~~\n"
                           << 1 << "C:\\p q\\net.py:8 in f | a + b";
    QTest::newRow("windows, torchscript") << "C:\\p\\net.py(8): f\r\n" << 1 << "C:\\p\\net.py:8 in f | ";
    QTest::newRow("without a function") << "File \"net.py\", line 8\n    a + b" << 1 << "net.py:8 in  | a + b";
    QTest::newRow("marks in place of code") << "File \"net.py\", line 8, in f\n    ^^^" << 1 << "net.py:8 in f | ";
    QTest::newRow("control characters") << QStringLiteral("File \"a\x1b[31m\u202Eb.py\", line 8, in f\n    x\ty") << 1
                                        << "a [31m b.py:8 in f | x y";
    QTest::newRow("code that looks like a frame of the other form")
        << "File \"net.py\", line 8, in f\n    print(1): x\n"
        << 1 << "net.py:8 in f | print(1): x";
    QTest::newRow("no trace") << "a convolution, see (42): it" << 0 << "";
    QTest::newRow("cut off") << "File \"net.py\", line" << 0 << "";
    QTest::newRow("no number") << "File \"net.py\", line 8x, in f" << 0 << "";
    QTest::newRow("a number too large") << "net.py(99999999999999999999): f" << 0 << "";
    QTest::newRow("line 0") << "net.py(0): f" << 0 << "";
    QTest::newRow("quote alone") << "File \", line 8, in f" << 0 << "";
    QTest::newRow("empty") << "" << 0 << "";
}

void OriginTests::traces()
{
    QFETCH(QString, trace);
    QFETCH(int, frames);
    const std::vector<SourceFrame> found = stackFrames(trace.toStdString());
    QCOMPARE(int(found.size()), frames);
    const auto shown = userFrame(found);
    QCOMPARE(shown.has_value(), frames > 0);
    if (shown)
        QTEST(text(found[*shown]), "shown");
    const std::vector<SourceFrame> again = stackFrames(traceText(found));
    QVERIFY(again == found);
}

/// Whose modules they are tells whose files they are.
void OriginTests::filesWithoutFoldersAreTold()
{
    const auto said = metadata({ { "pkg.torch.onnx.name_scopes", "['', 'block1', 'block1.1', 'batch_norm']" },
        { "pkg.torch.onnx.class_hierarchy",
            "['net.Net', 'torch.nn.modules.container.Sequential', 'torch.nn.modules.batchnorm.BatchNorm1d', "
            "'aten.x']" },
        { "pkg.torch.onnx.stack_trace",
            "File \"net.py\", line 25, in forward\n  return self.block1(x)\n"
            "File \"container.py\", line 253, in forward\n  input = module(input)\n"
            "File \"batchnorm.py\", line 210, in forward\n  return F.batch_norm(\n"
            "File \"functional.py\", line 2800, in batch_norm\n  return torch.batch_norm(" } });
    const ExporterOrigin origin = exporterOrigin(nodeOf("node_Conv_1", said));
    QVERIFY(origin.shownFrame());
    QCOMPARE(text(*origin.shownFrame()), QStringLiteral("net.py:25 in forward | return self.block1(x)"));
    const auto own = metadata({ { "pkg.torch.onnx.name_scopes", "['', 'block1', 'mul']" },
        { "pkg.torch.onnx.class_hierarchy", "['net.Net', 'batchnorm.Mine', 'aten.mul']" },
        { "pkg.torch.onnx.stack_trace", "File \"batchnorm.py\", line 7, in forward\n  return x * y" } });
    const ExporterOrigin mine = exporterOrigin(nodeOf("node_mul", own));
    QVERIFY(mine.shownFrame());
    QCOMPARE(text(*mine.shownFrame()), QStringLiteral("batchnorm.py:7 in forward | return x * y"));
}

void OriginTests::longTracesAreBounded()
{
    std::string trace = "File \"" + std::string(1 << 20, 'a') + "\", line 8, in f\n";
    QVERIFY(stackFrames(trace).empty());
    trace.clear();
    for (int i = 0; i < 100'000; ++i)
        trace += "net.py(" + std::to_string(i + 1) + "): f\n";
    QVERIFY(stackFrames(trace).size() <= 500);
    trace = "File \"n.py\", line 8, in f\n    " + std::string(100'000, 'x');
    QVERIFY(stackFrames(trace).front().code.size() < 2000);
}

void OriginTests::modulePaths_data()
{
    QTest::addColumn<QString>("scopes");
    QTest::addColumn<QString>("types");
    QTest::addColumn<QString>("space");
    QTest::addColumn<QString>("levels");
    QTest::addColumn<QString>("operation");
    const QString scopes = QStringLiteral("['', 'block', 'block.0', 'block.0.bn', 'batch_norm_1']");
    const QString types
        = QStringLiteral("['m.Net', 'torch.nn.Sequential', 'm.Block', 'torch.nn.BatchNorm2d', 'aten.x']");
    const QString all
        = QStringLiteral("=m.Net block=torch.nn.Sequential block.0=m.Block block.0.bn=torch.nn.BatchNorm2d");
    const QString space = QStringLiteral(
        ": m.Net/block: torch.nn.Sequential/block.0: m.Block/block.0.bn: torch.nn.BatchNorm2d/batch_norm_1: aten.x");
    QTest::newRow("lists") << scopes << types << space << all << "aten.x";
    QTest::newRow("namespace") << ""
                               << "" << space << all << "aten.x";
    QTest::newRow("scopes alone") << scopes << ""
                                  << ""
                                  << "= block= block.0= block.0.bn="
                                  << "";
    QTest::newRow("another number of types") << scopes << "['m.Net']"
                                             << ""
                                             << "= block= block.0= block.0.bn="
                                             << "";
    QTest::newRow("the model itself") << "['', 'add']"
                                      << "['m.Net', 'aten.add']"
                                      << ""
                                      << "=m.Net"
                                      << "aten.add";
    QTest::newRow("no list") << "('', 'a')" << types << ""
                             << ""
                             << "";
    QTest::newRow("damaged") << "['', 'a"
                             << "["
                             << "no colon"
                             << ""
                             << "";
    QTest::newRow("nothing") << ""
                             << ""
                             << ""
                             << ""
                             << "";
}

void OriginTests::modulePaths()
{
    QFETCH(QString, scopes);
    QFETCH(QString, types);
    QFETCH(QString, space);
    const std::string a = scopes.toStdString(), b = types.toStdString(), c = space.toStdString();
    const auto said = metadata(
        { { "pkg.torch.onnx.name_scopes", a }, { "pkg.torch.onnx.class_hierarchy", b }, { "namespace", c } });
    const ModulePath path = modulePathOf(*said);
    QStringList levels;
    for (const ModuleLevel& level : path.levels)
        levels << QString::fromStdString(level.path + "=" + level.type);
    QTEST(levels.join(' '), "levels");
    QTEST(QString::fromStdString(path.operation), "operation");
}

void OriginTests::names_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("path");
    QTest::newRow("torchscript") << "/layer1/layer1.0/conv1/Conv"
                                 << "layer1.0.conv1";
    QTest::newRow("torchscript's classes") << "Net::/Block::body/Conv2d[0]/Conv"
                                           << "body/0";
    QTest::newRow("tensorflow") << "model/conv2d/BiasAdd"
                                << "model/conv2d";
    QTest::newRow("dynamo") << "node_conv2d_3"
                            << "";
    QTest::newRow("none") << "Conv_12"
                          << "";
    QTest::newRow("empty") << ""
                           << "";
}

void OriginTests::names()
{
    QFETCH(QString, name);
    QFETCH(QString, path);
    const ExporterOrigin origin = exporterOrigin(nodeOf(name.toStdString(), nullptr));
    QCOMPARE(QString::fromStdString(origin.path), path);
    QCOMPARE(origin.pathBy, path.isEmpty() ? OriginEvidence::None : OriginEvidence::Name);
    QCOMPARE(origin.known(), !path.isEmpty());
}

void OriginTests::pythonLists_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("strings");
    QTest::newRow("two") << "['a', 'b.c']" << QStringList { "a", "b.c" };
    QTest::newRow("quotes") << "[\"it's\", 'a\\'b', 'c\\\\d']" << QStringList { "it's", "a'b", "c\\d" };
    QTest::newRow("spaces") << " [ 'a' ,'b' ]" << QStringList { "a", "b" };
    QTest::newRow("empty list") << "[]" << QStringList {};
    QTest::newRow("numbers") << "[1, 2]" << QStringList {};
    QTest::newRow("cut off") << "['a', 'b" << QStringList {};
    QTest::newRow("backslash at the end") << "['a\\" << QStringList {};
    QTest::newRow("too many") << "['a'" + QString(", 'a'").repeated(500) + "]" << QStringList {};
}

void OriginTests::pythonLists()
{
    QFETCH(QString, text);
    QStringList found;
    for (const std::string& one : pythonStrings(text.toStdString()))
        found << QString::fromStdString(one);
    QTEST(found, "strings");
}

void OriginTests::oneLineOfAnything_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("line");
    QTest::newRow("plain") << QByteArray("a b") << "a b";
    QTest::newRow("lines") << QByteArray("a\nb\r\x7f") << "a b  ";
    QTest::newRow("no UTF-8") << QByteArray("a\xffz") << QStringLiteral("a\uFFFDz");
    QTest::newRow("direction") << QByteArray("a\xe2\x80\xae z") << "a  z";
    QTest::newRow("as long as may be") << QByteArray("äbcdefgh") << "äbcdefgh";
    QTest::newRow("longer") << QByteArray("äbcdefghi") << "äbcdefgh…";
    QTest::newRow("empty") << QByteArray() << "";
}

void OriginTests::oneLineOfAnything()
{
    QFETCH(QByteArray, text);
    QTEST(QString::fromStdString(oneLine(text.toStdString(), 8)), "line");
}

void OriginTests::documentationThatIsNoTrace()
{
    const ExporterOrigin origin = exporterOrigin(nodeOf("n", metadata({}, "scales\nthe logits")));
    QVERIFY(!origin.known());
    QCOMPARE(origin.documentation, std::string("scales the logits"));
    const ExporterOrigin trace = exporterOrigin(nodeOf("/a/n", metadata({}, "net.py(4): f")));
    QCOMPARE(trace.frameBy, OriginEvidence::Documentation);
    QCOMPARE(trace.pathBy, OriginEvidence::Name);
    QVERIFY(trace.documentation.empty());
}

void OriginTests::whatTheCallSays()
{
    Derivation call { Derivation::Kind::Call,
        { { "call_1", "pkg:F", metadata({ { "namespace", ": m.N/f: m.F/x: y" } }) } }, {}, nullptr };
    const auto called = std::make_shared<const Derivation>(call);
    ExporterOrigin origin = exporterOrigin(nodeOf("inner", nullptr, called));
    QCOMPARE(origin.path, std::string("f"));
    QCOMPARE(origin.toldBy, std::string("call_1"));
    origin = exporterOrigin(nodeOf("inner", metadata({ { "namespace", ": m.N/g: m.G/x: y" } }), called));
    QCOMPARE(origin.path, std::string("g"));
    QCOMPARE(origin.toldBy, std::string());
}

void OriginTests::scopesOfNodes()
{
    using Scopes = std::vector<std::string>;
    const auto said = metadata({ { "pkg.torch.onnx.name_scopes", "['', 'layers.3', 'layers.3.attn', 'add']" } });
    QCOMPARE(moduleScopes(nodeOf("node_add_3", said)), (Scopes { "layers", "3", "attn" }));
    QCOMPARE(moduleScopes(nodeOf("/enc/0/Add", said)), (Scopes { "enc", "0" }));
    QCOMPARE(moduleScopes(nodeOf("node_add_3", nullptr)), Scopes {});
    QCOMPARE(moduleScopes(Node {}), Scopes {});
}

void OriginTests::waysAreJoined()
{
    using Kind = Derivation::Kind;
    const DerivationPtr call = way(Kind::Call, "call");
    const auto inCall = std::make_shared<const NodeOrigin>(NodeOrigin { nullptr, call });
    QCOMPARE(chain(derivedFrom(nullptr, way(Kind::Branch, "if"))), QStringLiteral("if"));
    // A function is called inside of the branch.
    QCOMPARE(chain(derivedFrom(inCall, way(Kind::Branch, "if"))), QStringLiteral("call<if"));
    // The branch is inside of the function, as its node is.
    QCOMPARE(chain(derivedFrom(inCall, way(Kind::Branch, "if", call))), QStringLiteral("if<call"));
    QCOMPARE(chain(derivedFrom(inCall, way(Kind::Iteration, "loop", way(Kind::Branch, "if", call)))),
        QStringLiteral("loop<if<call"));
}

void OriginTests::fusedNodesNameTheirSources()
{
    const std::string a = "a", b = "b", type = "Add", c = "c";
    const auto said = std::make_shared<const NodeOrigin>(NodeOrigin { metadata({}, "doc"), nullptr });
    const NodeOriginPtr none;
    const NodeOriginPtr two = fusedOrigin({ { a, type, said }, { b, type, none } }, 0);
    QCOMPARE(chain(two), QStringLiteral("a<b"));
    QCOMPARE(two->metadata, said->metadata);
    const NodeOriginPtr three = fusedOrigin({ { a, type, two }, { c, type, none } }, 1);
    QCOMPARE(chain(three), QStringLiteral("a<b<c"));
    QVERIFY(!three->metadata);
}

void OriginTests::whatWasFolded()
{
    const auto said = metadata({ { "pkg.onnxscript.optimizer.folded_from", "['layers.0.out.weight']" } });
    QCOMPARE(foldedFrom(*said), (std::vector<std::string> { "layers.0.out.weight" }));
    QVERIFY(foldedFrom(*metadata({})).empty());
}

QTEST_APPLESS_MAIN(OriginTests)

#include "origin_test.moc"
