// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/wire_scanner.h"
#include "tests/onnx/model_bytes.h"
#include "tests/onnx/runners.h"

#include <QtTest>

using namespace qs;
using namespace qs::test;

class WireScannerTest : public QObject {
    Q_OBJECT
private slots:
    void stripsEveryPayload()
    {
        auto model = emptyModel();
        auto* g = model.mutable_graph();
        const std::string weights(5000, 'w');
        setRaw(g->add_initializer(), "a", 3, { 5000 }, weights);
        setRaw(g->add_sparse_initializer()->mutable_values(), "b", 3, { 5000 }, weights);
        auto* node = addNode(g, "If", {}, { "y" });
        setRaw(addAttribute(node, "t", onnx::AttributeProto::TENSOR)->mutable_t(), "c", 3, { 5000 }, weights);
        setRaw(addAttribute(node, "ts", onnx::AttributeProto::TENSORS)->add_tensors(), "d", 3, { 5000 }, weights);
        auto* inner = addAttribute(node, "g", onnx::AttributeProto::GRAPH)->mutable_g();
        setRaw(inner->add_initializer(), "e", 3, { 5000 }, weights);
        auto* constant = addNode(model.add_functions()->mutable_node(), "Constant", {}, { "c" });
        setRaw(addAttribute(constant, "value", onnx::AttributeProto::TENSOR)->mutable_t(), "f", 3, { 5000 }, weights);
        const std::string bytes = model.SerializeAsString();
        WireScanner scanner(std::as_bytes(std::span(bytes)));
        const auto stripped = scanner.strip(MessageKind::Model);
        QVERIFY(stripped.has_value());
        QCOMPARE(stripped->payloads.size(), size_t(6));
        QVERIFY(stripped->bytes.size() < 1000);
        for (const Payload& p : stripped->payloads)
            QCOMPARE(bytes.substr(p.offset, p.length), weights);
        onnx::ModelProto parsed;
        QVERIFY(parsed.ParseFromString(stripped->bytes));
        QVERIFY(!parsed.graph().initializer(0).has_raw_data());
        QCOMPARE(parsed.graph().initializer(0).name(), std::string("a"));
        QCOMPARE(parsed.functions(0).node(0).attribute(0).t().dims(0), int64_t(5000));
    }

    void aForgedPayloadFieldIsDropped()
    {
        onnx::TensorProto tensor;
        tensor.set_name("w");
        tensor.mutable_unknown_fields()->AddVarint(int(kPayloadField), 12345);
        tensor.mutable_unknown_fields()->AddLengthDelimited(int(kPayloadField), "x");
        const std::string bytes = tensor.SerializeAsString();
        WireScanner scanner(std::as_bytes(std::span(bytes)));
        const auto stripped = scanner.strip(MessageKind::Tensor);
        QVERIFY(stripped.has_value());
        QCOMPARE(stripped->bytes, std::string("\x42\x01w"));
    }

    void tellsWhatIsWrong()
    {
        const auto kind = [](std::string bytes) {
            WireScanner scanner(std::as_bytes(std::span(bytes)));
            return scanner.strip(MessageKind::Model) ? -1 : int(scanner.error().kind);
        };
        QCOMPARE(kind(""), -1);
        QCOMPARE(kind("\x08"), int(ScanError::Kind::Truncated));
        QCOMPARE(kind("\x3a\x05 1"), int(ScanError::Kind::Truncated)); // graph of 5 bytes, 2 left
        QCOMPARE(kind("\x3a\x02\x0a\x05..."), int(ScanError::Kind::Malformed)); // its node is larger than the graph
        QCOMPARE(kind("\x0b"), int(ScanError::Kind::Malformed)); // a group
        QCOMPARE(kind(std::string("\x00\x01", 2)), int(ScanError::Kind::Malformed)); // field number 0
        QCOMPARE(kind(std::string(11, '\xff')), int(ScanError::Kind::Malformed)); // a number of 11 bytes
        QCOMPARE(kind("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), int(ScanError::Kind::Truncated));
        QCOMPARE(kind("\x0d..."), int(ScanError::Kind::Truncated));
        QCOMPARE(kind("\x09......."), int(ScanError::Kind::Truncated));
    }
};

int runWireScannerTest(int argc, char** argv)
{
    WireScannerTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "wire_scanner_test.moc"
