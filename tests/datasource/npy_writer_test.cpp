// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/array_file.h"
#include "core/data/arrays/npy_writer.h"
#include "core/tensor/convert.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>

using namespace qs;

namespace {

/// Numbers 0, 1, 2 ... of a type.
template <class T> NpyFill counting()
{
    return [](size_t first, std::span<std::byte> piece) {
        for (size_t i = 0; i < piece.size() / sizeof(T); ++i) {
            const T value = static_cast<T>(first + i);
            std::memcpy(piece.data() + i * sizeof(T), &value, sizeof(T));
        }
    };
}

} // namespace

class NpyWriterTest : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;
    std::string path() const { return m_folder.filePath(QStringLiteral("a.npy")).toStdString(); }

private slots:
    void isReadBack_data()
    {
        QTest::addColumn<Shape>("shape");
        QTest::newRow("scalar") << Shape {};
        QTest::newRow("one axis") << Shape { 5 };
        QTest::newRow("several pieces") << Shape { 3, 50'000 };
        QTest::newRow("four axes") << Shape { 1, 2, 3, 4 };
        QTest::newRow("nothing") << Shape { 2, 0 };
    }

    void isReadBack()
    {
        QFETCH(Shape, shape);
        QVERIFY(writeNpy(path(), DType::Float32, shape, counting<float>()).ok());
        const auto archive = ArrayArchive::open(path());
        QVERIFY(archive.ok());
        auto array = archive->array("");
        QVERIFY(array.ok());
        QCOMPARE(array->dtype(), DType::Float32);
        QVERIFY(array->shape() == shape);
        const int64_t items = shape.empty() ? 1 : shape[0];
        QVERIFY(array->prepare(items).ok());
        const auto read = array->items(0, items);
        QVERIFY(read.ok());
        for (int64_t i = 0; i < read->count(); ++i)
            QCOMPARE(elementAsDouble(*read, i), double(i));
    }

    void headerIsNumpys()
    {
        QVERIFY(writeNpy(path(), DType::Int8, { 2, 3 }, counting<int8_t>()).ok());
        QFile file(QString::fromStdString(path()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray bytes = file.readAll();
        QCOMPARE(bytes.size(), 128 + 6);
        QVERIFY(bytes.startsWith(QByteArray("\x93NUMPY\x01\x00\x76\x00", 10)
            + "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }"));
        QCOMPARE(bytes.mid(128), QByteArray("\0\1\2\3\4\5", 6));
    }

    void whatWasThereStays()
    {
        QVERIFY(writeNpy(path(), DType::UInt8, { 3 }, counting<uint8_t>()).ok());
        const CancelToken stop;
        stop.cancel();
        QVERIFY(!writeNpy(path(), DType::UInt8, { 300'000 }, counting<uint8_t>(), stop).ok());
        QCOMPARE(QFile(QString::fromStdString(path())).size(), qint64(128 + 3));
        QCOMPARE(QDir(m_folder.path()).entryList(QDir::Files), QStringList { QStringLiteral("a.npy") });
        QVERIFY(!writeNpy(m_folder.path().toStdString(), DType::UInt8, { 3 }, counting<uint8_t>()).ok());
    }
};

QTEST_APPLESS_MAIN(NpyWriterTest)

#include "npy_writer_test.moc"
