// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/weight_change.h"
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

    void cutOff()
    {
        const auto found = Changed([](double code) { return std::min(code, 30.0); }).found();
        QVERIFY(found && found->kind == WeightChange::Kind::Cut);
        QCOMPARE(found->value, 30.0);
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
