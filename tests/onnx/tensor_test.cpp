// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/container.h"
#include "tests/onnx/model_bytes.h"
#include "tests/onnx/runners.h"

#include <onnx/onnx-data_pb.h>

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;
using namespace qs::test;

namespace {

Imported importTensorProto(const onnx::TensorProto& tensor)
{
    auto model = emptyModel(13, 25);
    *model.mutable_graph()->add_initializer() = tensor;
    model.mutable_graph()->mutable_initializer(0)->set_name("w");
    return import(model);
}

std::vector<uint8_t> bytesOf(const Imported& model)
{
    const Graph& g = (*model)->graph;
    const auto bytes = g.value(g.findValue("w")).initializer->bytes();
    std::vector<uint8_t> out;
    for (std::byte b : bytes)
        out.push_back(std::to_integer<uint8_t>(b));
    return out;
}

template <class T> std::vector<uint8_t> asBytes(const std::vector<T>& values)
{
    const auto* p = reinterpret_cast<const uint8_t*>(values.data());
    return { p, p + values.size() * sizeof(T) };
}

} // namespace

class TensorTest : public QObject {
    Q_OBJECT
private slots:
    void rawDataOfEveryType_data()
    {
        QTest::addColumn<int>("type");
        for (int type = 1; type <= 26; ++type)
            if (type != 8)
                QTest::newRow(std::string(dtypeName(static_cast<DType>(type))).c_str()) << type;
    }
    void rawDataOfEveryType()
    {
        QFETCH(int, type);
        for (size_t count : { 0, 1, 3, 5, 6, 1501 }) {
            std::string raw(storageBytes(static_cast<DType>(type), count), '\0');
            for (size_t i = 0; i < raw.size(); ++i)
                raw[i] = static_cast<char>(type == 9 ? i % 2 : i * 7 + 1);
            onnx::TensorProto tensor;
            setRaw(&tensor, "w", type, { int64_t(count) }, raw);
            const auto model = importTensorProto(tensor);
            QVERIFY2(model.ok(), sentence(model).c_str());
            const auto& value = (*model)->graph.value((*model)->graph.findValue("w"));
            QCOMPARE(int(value.initializer->dtype()), type);
            QCOMPARE(int(value.type.dtype), type);
            QCOMPARE(value.initializer->shape(), Shape { int64_t(count) });
            QCOMPARE(bytesOf(model), std::vector<uint8_t>(raw.begin(), raw.end()));
            if (count > 0) {
                tensor.mutable_raw_data()->pop_back();
                QVERIFY(sentence(importTensorProto(tensor)).find("'w'") != std::string::npos);
            }
        }
    }

    void typedFields()
    {
        const auto check = [](int type, std::vector<int64_t> dims, auto fill, std::vector<uint8_t> expected) {
            onnx::TensorProto tensor;
            tensor.set_data_type(type);
            for (int64_t d : dims)
                tensor.add_dims(d);
            fill(tensor);
            const auto model = importTensorProto(tensor);
            QVERIFY2(model.ok(), sentence(model).c_str());
            QCOMPARE(bytesOf(model), expected);
            tensor.set_dims(0, dims[0] + 9);
            QVERIFY(sentence(importTensorProto(tensor)).find("stored values") != std::string::npos);
        };
        const auto ints = [](std::vector<int> values) {
            return [values](onnx::TensorProto& t) { t.mutable_int32_data()->Add(values.begin(), values.end()); };
        };
        using T = onnx::TensorProto;
        check(
            T::FLOAT, { 2 }, [](T& t) { t.add_float_data(1.5f), t.add_float_data(-2); }, asBytes<float>({ 1.5f, -2 }));
        check(
            T::DOUBLE, { 2 }, [](T& t) { t.add_double_data(1.5), t.add_double_data(-2); },
            asBytes<double>({ 1.5, -2 }));
        check(
            T::COMPLEX64, { 1 }, [](T& t) { t.add_float_data(1.5f), t.add_float_data(-2); },
            asBytes<float>({ 1.5f, -2 }));
        check(
            T::COMPLEX128, { 1 }, [](T& t) { t.add_double_data(1.5), t.add_double_data(-2); },
            asBytes<double>({ 1.5, -2 }));
        check(
            T::INT64, { 1 }, [](T& t) { t.add_int64_data(-5); }, asBytes<int64_t>({ -5 }));
        check(
            T::UINT64, { 1 }, [](T& t) { t.add_uint64_data(UINT64_MAX); }, asBytes<uint64_t>({ UINT64_MAX }));
        check(
            T::UINT32, { 1 }, [](T& t) { t.add_uint64_data(4'000'000'000); }, asBytes<uint32_t>({ 4'000'000'000 }));
        check(T::INT32, { 2 }, ints({ -7, 8 }), asBytes<int32_t>({ -7, 8 }));
        check(T::INT16, { 2 }, ints({ -7, 8 }), asBytes<int16_t>({ -7, 8 }));
        check(T::UINT16, { 1 }, ints({ 65535 }), asBytes<uint16_t>({ 65535 }));
        check(T::INT8, { 3 }, ints({ -128, 127, -1 }), { 128, 127, 255 });
        check(T::UINT8, { 2 }, ints({ 255, 0 }), { 255, 0 });
        check(T::BOOL, { 3 }, ints({ 0, 1, 5 }), { 0, 1, 1 });
        check(T::FLOAT16, { 2 }, ints({ 0x3c00, 0xfc00 }), asBytes<uint16_t>({ 0x3c00, 0xfc00 }));
        check(T::BFLOAT16, { 1 }, ints({ 0x3f80 }), asBytes<uint16_t>({ 0x3f80 }));
        for (int float8 : { 17, 18, 19, 20, 24 })
            check(float8, { 2 }, ints({ 0x40, 0xff }), { 0x40, 0xff });
        for (int fourBits : { 21, 22, 23 })
            check(fourBits, { 3 }, ints({ 0x21, 0x03 }), { 0x21, 0x03 });
        for (int twoBits : { 25, 26 })
            check(twoBits, { 5 }, ints({ 0xe4, 0x01 }), { 0xe4, 0x01 });
    }

    void strings()
    {
        onnx::TensorProto tensor;
        tensor.set_data_type(onnx::TensorProto::STRING);
        tensor.add_dims(2);
        tensor.add_string_data("a");
        QVERIFY(!importTensorProto(tensor));
        tensor.add_string_data("bc");
        const auto model = importTensorProto(tensor);
        QVERIFY2(model.ok(), sentence(model).c_str());
        QCOMPARE((*model)->graph.values()[0].initializer->stringData(), (std::vector<std::string> { "a", "bc" }));
    }

    void badShapes()
    {
        const auto text = [](std::vector<int64_t> dims, int type = 1) {
            onnx::TensorProto tensor;
            setRaw(&tensor, "w", type, dims, "1234");
            return QString::fromStdString(sentence(importTensorProto(tensor)));
        };
        QCOMPARE(text({ 1 }), QString());
        QVERIFY(text({ -1 }).contains("tensor 'w': its shape has the negative size -1"));
        QVERIFY(text({ 0, int64_t(1) << 62 }).contains("that of no element, and yet too large"));
        QVERIFY(text({ INT64_MAX, INT64_MAX }).contains("too large"));
        QVERIFY(text({ int64_t(1) << 62 }).contains("too large"));
        QVERIFY(text({ 100000, 100000 }).contains("needs 40000000000 bytes, but it has 4"));
        QVERIFY(text({ 0, INT64_MAX, INT64_MAX }).contains("too large"));
        QVERIFY(text({ 1 }, 0).contains("no element type"));
        QVERIFY(text({ 4 }, 8).contains("strings"));
    }

    void typeNumbersNewerThanOurs()
    {
        auto model = emptyModel();
        setRaw(model.mutable_graph()->add_initializer(), "w", 27, { 4 }, "123");
        addNode(model.mutable_graph(), "Identity", { "w" }, { "y" });
        addOutput(model.mutable_graph(), "y");
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        QVERIFY(!(*opened)->graph.values()[0].initializer);
        QCOMPARE((*opened)->warnings.size(), size_t(1));
    }

    /// Each of them is small in the file and 1 GiB when it is dense.
    void sparseTensorsTogether()
    {
        const auto model = [](int count, int64_t size) {
            auto m = emptyModel();
            for (int i = 0; i < count; ++i) {
                auto* sparse = m.mutable_graph()->add_sparse_initializer();
                setRaw(sparse->mutable_values(), "w" + std::to_string(i), 1, { 0 }, {});
                setRaw(sparse->mutable_indices(), "", 7, { 0 }, {});
                sparse->add_dims(size);
            }
            return m;
        };
        QVERIFY(import(model(4, 1 << 20)).ok());
        const auto opened = import(model(10, 1 << 28));
        QVERIFY(!opened.ok());
        QVERIFY2(sentence(opened).find("too large for this file") != std::string::npos, sentence(opened).c_str());
    }

    void sparse()
    {
        auto model = emptyModel();
        auto* sparse = model.mutable_graph()->add_sparse_initializer();
        const std::vector<float> values { 7, 9 };
        setRaw(sparse->mutable_values(), "w", 1, { 2 }, std::string(reinterpret_cast<const char*>(values.data()), 8));
        auto* indices = sparse->mutable_indices();
        indices->set_data_type(onnx::TensorProto::INT64);
        for (int64_t d : { 2, 2 })
            indices->add_dims(d);
        for (int64_t i : { 0, 1, 1, 2 })
            indices->add_int64_data(i);
        for (int64_t d : { 2, 3 })
            sparse->add_dims(d);
        const auto byPosition = import(model);
        QVERIFY2(byPosition.ok(), sentence(byPosition).c_str());
        QCOMPARE(bytesOf(byPosition), asBytes<float>({ 0, 7, 0, 0, 0, 9 }));
        indices->set_int64_data(3, 3);
        QVERIFY(sentence(import(model)).find("outside its shape") != std::string::npos);
        indices->mutable_dims()->Truncate(1);
        indices->mutable_int64_data()->Truncate(0);
        indices->add_int64_data(1);
        indices->add_int64_data(5);
        QCOMPARE(bytesOf(import(model)), asBytes<float>({ 0, 7, 0, 0, 0, 9 }));
        sparse->set_dims(0, int64_t(1) << 40);
        QVERIFY(sentence(import(model)).find("too large for this file") != std::string::npos);
    }

    void weightsAreMappedWhenAligned()
    {
        // All four offsets of a float tensor: the elements are right, wherever they lie in the file.
        for (int shift = 0; shift < 4; ++shift) {
            auto model = emptyModel();
            model.set_producer_name(std::string(size_t(shift), 'p'));
            std::vector<float> values(1000);
            for (size_t i = 0; i < values.size(); ++i)
                values[i] = float(i);
            addFloats(model.mutable_graph(), "w", values);
            const auto opened = import(model);
            QVERIFY(opened.ok());
            const auto data = (*opened)->graph.values()[0].initializer->data<float>();
            QVERIFY(std::ranges::equal(data, values));
        }
    }

    void tensorFiles()
    {
        QTemporaryDir folder;
        const auto write = [&](const std::string& bytes) {
            QFile file(folder.filePath("input_0.pb"));
            file.open(QIODevice::WriteOnly);
            file.write(bytes.data(), qint64(bytes.size()));
            file.close();
            return importValue(file.fileName().toStdString(), {});
        };
        onnx::TensorProto tensor;
        setRaw(&tensor, "x", onnx::TensorProto::INT8, { 2, 2 }, "abcd");
        const auto read = write(tensor.SerializeAsString());
        QVERIFY(read.ok());
        QCOMPARE(read->shape(), (Shape { 2, 2 }));
        QVERIFY(std::ranges::equal(read->data<int8_t>(), std::string("abcd")));
        QVERIFY(!write(""));
        QVERIFY(!write("no tensor at all"));
        const std::string named("\x0a\x03seq\x10\x01\x1a\x00", 9); // a SequenceProto: name, element type, one tensor
        QVERIFY(issueText(write(named).issue()).find("sequence") != std::string::npos);
        QVERIFY(!importValue(folder.filePath("missing.pb").toStdString(), {}));
    }

    /// Sequences, optionals and maps: the file does not say which, the declared type does.
    void containerFiles()
    {
        QTemporaryDir folder;
        const auto read = [&](const google::protobuf::Message& message, const char* container) {
            QFile file(folder.filePath("input_0.pb"));
            file.open(QIODevice::WriteOnly);
            const std::string bytes = message.SerializeAsString();
            file.write(bytes.data(), qint64(bytes.size()));
            file.close();
            return importValue(file.fileName().toStdString(), { DType::Undefined, std::nullopt, container });
        };
        onnx::SequenceProto sequence;
        sequence.set_name("s");
        sequence.set_elem_type(1);
        QCOMPARE(itemsOf(*read(sequence, "sequence")).size(), size_t(0));
        setRaw(sequence.add_tensor_values(), "", onnx::TensorProto::INT8, { 2 }, "ab");
        setRaw(sequence.add_tensor_values(), "", onnx::TensorProto::INT8, { 3 }, "cde");
        const auto two = read(sequence, "sequence");
        QVERIFY(two.ok());
        QCOMPARE(two->dtype(), DType::Sequence);
        QCOMPARE(elementTypeOf(*two), DType::Int8);
        QCOMPARE(itemsOf(*two).size(), size_t(2));
        QVERIFY(std::ranges::equal(itemsOf(*two)[1].data<int8_t>(), std::string("cde")));

        onnx::OptionalProto optional;
        optional.set_elem_type(3);
        QCOMPARE(read(optional, "optional")->dtype(), DType::NoValue);
        *optional.mutable_sequence_value() = sequence;
        const auto some = read(optional, "optional");
        QVERIFY(some.ok());
        QCOMPARE(itemsOf(*some).size(), size_t(2));

        onnx::MapProto map;
        map.set_key_type(onnx::TensorProto::STRING);
        map.add_string_keys("one");
        map.add_string_keys("two");
        *map.mutable_values() = sequence;
        QVERIFY(!read(map, "map")); // two tensors of several values each
        map.mutable_values()->mutable_tensor_values()->RemoveLast();
        const auto words = read(map, "map");
        QVERIFY(words.ok());
        QCOMPARE(itemsOf(*words)[0].stringData()[1], std::string("two"));

        setRaw(sequence.add_tensor_values(), "", onnx::TensorProto::UINT8, { 1 }, "x");
        QVERIFY(issueText(read(sequence, "sequence").issue()).find("both int8 and uint8") != std::string::npos);
        setRaw(sequence.mutable_tensor_values(2), "", onnx::TensorProto::INT8, { 9 }, "x");
        QVERIFY(!read(sequence, "sequence"));
    }
};

int runTensorTest(int argc, char** argv)
{
    TensorTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "tensor_test.moc"
