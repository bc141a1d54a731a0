// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/weight_change.h"
#include "core/analysis/rounding/precision.h"
#include "core/tensor/convert.h"
#include "tests/support/tensors.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int kChannels = 8, kEach = 64;

/// Rounds weights to int8 with a scale for each channel, after what `change` makes of value, scale and code.
struct Changed {
    std::vector<float> x, y;
    QuantParams params;

    explicit Changed(const std::function<double(double code)>& ofCode, double ofScale = 1)
        : x(normals(kChannels * kEach, 11))
    {
        params.dtype = DType::Int8;
        params.axis = 0;
        for (int c = 0; c < kChannels; ++c) {
            const auto begin = x.begin() + ptrdiff_t(c) * kEach, end = begin + kEach;
            const auto larger = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
            const double scale = std::fabs(double(*std::max_element(begin, end, larger))) / 120;
            params.scale.push_back(float(scale * ofScale));
            params.zeroPoint.push_back(0);
            for (auto v = begin; v != end; ++v)
                y.push_back(float(ofCode(std::nearbyint(double(*v) / scale)) * scale * ofScale));
        }
    }
    std::optional<WeightChange> found() const { return weightChange(x, y, params, { { kChannels, kEach }, params }); }
};

} // namespace

class WeightChangeTests : public QObject {
    Q_OBJECT
private slots:
    void nothingChanged()
    {
        QVERIFY(!Changed([](double code) { return code; }).found());
    }

    void oneFactor()
    {
        const auto found = Changed([](double code) { return code; }, 1.25).found();
        QVERIFY(found && found->kind == WeightChange::Kind::Factor);
        QVERIFY(std::fabs(found->value - 1.25) < 0.01);
    }

    void oneShift()
    {
        const auto found = Changed([](double code) { return code - 6; }).found();
        QVERIFY(found && found->kind == WeightChange::Kind::Shift);
        QCOMPARE(found->value, -6.0);
    }

    /// Codes that would go beyond the ends stay there.
    void oneShiftBeyondTheEnd()
    {
        const auto found = Changed([](double code) { return std::min(code + 20, 127.0); }).found();
        QVERIFY(found && found->kind == WeightChange::Kind::Shift);
        QCOMPARE(found->value, 20.0);
    }

    /// Each channel has zero points of its own, which were lost.
    void shiftsByBlock()
    {
        int at = 0;
        const auto found = Changed([&](double code) { return code + at++ / kEach % 3 - 1; }).found();
        QVERIFY(found && found->kind == WeightChange::Kind::Shifts);
        QCOMPARE(found->value, 1.0);
    }

    /// MatMulNBits has scales below zero.
    void negativeScales()
    {
        Changed c([](double code) { return code - 6; });
        for (float& scale : c.params.scale)
            scale = -scale;
        const auto found = c.found();
        QVERIFY(found && found->kind == WeightChange::Kind::Shift);
        QCOMPARE(found->value, 6.0);
    }

    void rows()
    {
        int at = 0;
        const Changed rows([&](double code) { return at++ / kEach == 3 ? -code : code; });
        const Changed columns([&](double code) { return at++ % kEach == 9 ? code + 40 : code; });
        const auto found = [](const Changed& c) {
            return otherRows(c.x, c.y, { kChannels, kEach }, c.params, { { kChannels, kEach }, c.params });
        };
        QVERIFY(!found(Changed([](double code) { return code; })));
        QVERIFY(!found(Changed([](double code) { return code + 6; })));
        const auto row = found(rows), column = found(columns);
        QVERIFY(row && row->axis == 0 && row->rows == std::vector<int64_t> { 3 });
        QVERIFY(column && column->axis == 1 && column->rows == std::vector<int64_t> { 9 });
    }

    /// Channels of a convolution; two that were exchanged.
    void channels()
    {
        const Shape shape { kChannels, 4, 4, 4 };
        int at = 0;
        const Changed one([&](double code) { return at++ / 16 % 4 == 2 ? -code : code; });
        at = 0;
        const Changed two(
            [&](double code) { return at / kEach == 1 || at / kEach == 6 ? (++at, -code) : (++at, code); });
        const auto found = [&](const Changed& c) { return otherRows(c.x, c.y, shape, c.params, { shape, c.params }); };
        const auto exchanged = found(two), column = found(one);
        QVERIFY(exchanged && exchanged->axis == 0 && exchanged->rows == (std::vector<int64_t> { 1, 6 }));
        QVERIFY(column && column->axis == 1 && column->rows == std::vector<int64_t> { 2 });
    }

    /// Each channel has the scale of the one before it.
    void scalesOfOthers()
    {
        Changed c([](double code) { return code; });
        for (size_t i = 0; i < c.y.size(); ++i)
            c.y[i] *= c.params.scale[(i / kEach + 1) % kChannels] / c.params.scale[i / kEach];
        std::ranges::rotate(c.params.scale, c.params.scale.begin() + 1);
        const auto found = c.found();
        QVERIFY(found && found->kind == WeightChange::Kind::Factors);
        QVERIFY(found->part > 0.5);
    }

    void oneScale()
    {
        Changed c([](double code) { return code; });
        c.params.scale[2] *= 3;
        for (size_t i = 2 * kEach; i < 3 * kEach; ++i)
            c.y[i] *= 3;
        const auto found = c.found();
        QVERIFY(found && found->kind == WeightChange::Kind::Factors);
        QVERIFY(std::fabs(found->value - 3) < 0.1 && std::fabs(found->part - 1.0 / kChannels) < 1e-9);
    }

    void otherAxis_data()
    {
        QTest::addColumn<std::vector<int64_t>>("shape");
        QTest::addColumn<int>("right");
        QTest::addColumn<int>("stored");
        QTest::addColumn<int>("zero");
        QTest::newRow("matrix") << Shape { 16, 16 } << 0 << 1 << 0;
        QTest::newRow("matrix, zero points") << Shape { 16, 16 } << 1 << 0 << 3;
        QTest::newRow("kernel") << Shape { 16, 16, 3, 3 } << 0 << 1 << 0;
        QTest::newRow("kernel, last axis") << Shape { 16, 8, 16, 2 } << 0 << 2 << 5;
    }
    /// Codes that were made with scales along one axis and are read with them along another one.
    void otherAxis()
    {
        QFETCH(std::vector<int64_t>, shape);
        QFETCH(int, right);
        QFETCH(int, stored);
        QFETCH(int, zero);
        constexpr int kSize = 16;
        QuantParams params { DType::Int8, {}, {}, stored, 0 };
        for (int r = 0; r < kSize; ++r) {
            params.scale.push_back(0.01f * float(r + 3));
            params.zeroPoint.push_back(r % 2 * zero);
        }
        const auto place = [&](size_t i, int axis) {
            for (size_t a = shape.size() - 1; a > size_t(axis); --a)
                i /= size_t(shape[a]);
            return i % size_t(shape[size_t(axis)]);
        };
        const std::vector<float> x = normals(int(elementCount(shape).value()), 4);
        std::vector<float> y;
        for (size_t i = 0; i < x.size(); ++i) {
            const size_t written = place(i, right), read = place(i, stored);
            const double code = std::nearbyint(x[i] / params.scale[written]) + params.zero(written);
            y.push_back(float((code - params.zero(read)) * params.scale[read]));
        }
        const auto found = weightChange(x, y, params, { shape, params }, 0, shape);
        QVERIFY(found && found->kind == WeightChange::Kind::OtherAxis);
        QCOMPARE(found->value, double(right));
    }

    void cutOff()
    {
        const auto found = Changed([](double code) { return std::min(code, 30.0); }).found();
        QVERIFY(found && found->kind == WeightChange::Kind::Cut);
        QCOMPARE(found->value, 30.0);
    }

    void types_data()
    {
        QTest::addColumn<bool>("scales");
        QTest::newRow("float16 weights, codes of float32 ones") << false;
        QTest::newRow("float32 weights, float16 scales") << true;
    }
    /// What a type rounds is neither training nor a wrong scale.
    void types()
    {
        QFETCH(bool, scales);
        Changed c([](double code) { return code; });
        const WeightGrid grid({ kChannels, kEach }, c.params);
        QCOMPARE(roomOfTypes(c.x, c.params), 0x1p-23); // of float32
        QCOMPARE(againstGrid(c.x, c.y, c.params, grid).off, size_t(0));
        for (size_t i = 0; scales && i < c.y.size();
             ++i) { // rounded by the scale as it is, multiplied by the stored one
            const float scale = c.params.scale[i / kEach], stored = rounded(scale, Precision::Float16);
            c.y[i] = std::nearbyint(c.x[i] / scale) * stored;
        }
        for (float& v : scales ? c.params.scale : c.x)
            v = rounded(v, Precision::Float16);
        const double room = roomOfTypes(c.x, c.params);
        QCOMPARE(room, roundingOf(Precision::Float16));
        QVERIFY(scales || againstGrid(c.x, c.y, c.params, grid).off > 0);
        QCOMPARE(againstGrid(c.x, c.y, c.params, grid, room).off, size_t(0));
        // A wrong scale is one in any type.
        for (std::vector<float>* values : { &c.y, &c.params.scale })
            for (float& v : *values)
                v *= 1.25f;
        const auto found = weightChange(c.x, c.y, c.params, grid, room);
        QVERIFY(found && found->kind == WeightChange::Kind::Factor);
    }

    void smallFloats_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<QString>("fault");
        for (const DType type : { DType::Float8E4M3FN, DType::Float8E5M2, DType::Float4E2M1 })
            for (const char* fault : { "none", "factor", "rolled", "axis", "column" })
                QTest::addRow("%s, %s", std::string(dtypeName(type)).c_str(), fault) << int(type) << fault;
    }
    /// Wrong scales of float8 and float4 codes, whose steps grow with their values.
    void smallFloats()
    {
        QFETCH(int, type);
        QFETCH(QString, fault);
        constexpr size_t kSize = 48;
        QuantParams params { DType(type), {}, {}, 1, 0 };
        const float most = float(params.values().high);
        std::vector<float> x = normals(kSize * kSize, 4), y;
        for (size_t c = 0; c < kSize; ++c) {
            float largest = 0;
            for (size_t r = 0; r < kSize; ++r)
                largest = std::max(largest, std::fabs(x[r * kSize + c] *= 1 + 0.05f * float(c * 7 % kSize)));
            params.scale.push_back(largest / most);
        }
        params.zeroPoint.assign(kSize, 0);
        const std::vector<float> right = params.scale;
        if (fault == "rolled")
            std::ranges::rotate(params.scale, params.scale.begin() + 1);
        for (size_t i = 0; i < x.size(); ++i) {
            const float scale = right[i % kSize], read = params.scale[fault == "axis" ? i / kSize : i % kSize];
            const uint8_t code = floatToSmallFloat(params.dtype, x[i] / scale, true);
            const bool other = fault == "column" && i % kSize == 5;
            y.push_back(smallFloatToFloat(params.dtype, code) * read * (other ? -1.f : fault == "factor" ? 1.5f : 1.f));
        }
        for (float& scale : params.scale)
            scale *= fault == "factor" ? 1.5f : 1.f;
        if (fault == "axis")
            params.axis = 0;
        const Shape shape { kSize, kSize };
        const auto found = weightChange(x, y, params, { shape, params }, 0, shape);
        const auto rows = otherRows(x, y, shape, params, { shape, params });
        QCOMPARE(rows.has_value(), fault == "column");
        QCOMPARE(found.has_value(), fault != "none");
        if (found)
            QCOMPARE(found->kind,
                fault == "factor"     ? WeightChange::Kind::Factor
                    : fault == "axis" ? WeightChange::Kind::OtherAxis
                                      : WeightChange::Kind::Factors);
    }

    /// Training moves each element by itself.
    void severalChanges()
    {
        int at = 0;
        QVERIFY(!Changed([&](double code) { return code + ++at % 7 - 3; }).found());
    }
};

QTEST_GUILESS_MAIN(WeightChangeTests)
#include "weight_change_test.moc"
