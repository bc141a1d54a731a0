// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/dot_product.h"
#include "tests/kernels/random_data.h"

#include <QTest>

/// Random numbers for tests of integer kernels, with the ends of ranges as often as what lies between.
namespace qs::test {

/// How many seeds to try: all, or only some where QS_TEST_SEEDS says so (on an emulated CPU).
inline int seeds(int all)
{
    const char* most = std::getenv("QS_TEST_SEEDS");
    return most ? std::min(all, std::atoi(most)) : all;
}

/// Columns "seed" and "dots": the fastest products of this CPU, and for some seeds those of CPUs without dot products.
inline void addProductSeeds(int all)
{
    QTest::addColumn<int>("seed");
    QTest::addColumn<bool>("dots");
    for (int seed = 0; seed < seeds(all); ++seed) {
        QTest::addRow("seed %d", seed) << seed << true;
        if (hasDotProducts() && seed % 4 == 0)
            QTest::addRow("seed %d, pairs", seed) << seed << false;
    }
}

inline int32_t zeroPoint(RandomData& random, bool isSigned)
{
    const int32_t low = isSigned ? -128 : 0;
    switch (random.integer(0, 3)) {
    case 0:
        return low;
    case 1:
        return low + 255;
    default:
        return low + static_cast<int32_t>(random.integer(0, 255));
    }
}

/// None, one or n.
inline std::vector<int32_t> zeroPoints(RandomData& random, bool isSigned, int64_t n)
{
    const int64_t count = random.integer(0, 2);
    std::vector<int32_t> out(static_cast<size_t>(count == 2 ? n : count));
    for (int32_t& z : out)
        z = zeroPoint(random, isSigned);
    return out;
}

/// Mostly random codes, sometimes all at one end.
inline std::vector<uint8_t> codes(RandomData& random, int64_t n)
{
    static constexpr uint8_t kEnds[] { 0x00, 0x7f, 0x80, 0xff };
    if (random.integer(0, 5) == 0)
        return std::vector<uint8_t>(static_cast<size_t>(n), kEnds[random.integer(0, 3)]);
    return random.integers<uint8_t>(n, 0, 255);
}

/// One or n; halves of powers of two make ties, large ones leave the range.
inline std::vector<float> multipliers(RandomData& random, int64_t n)
{
    std::vector<float> out(random.integer(0, 1) ? static_cast<size_t>(n) : 1);
    const bool large = random.integer(0, 9) == 0;
    for (float& m : out)
        m = random.integer(0, 1) ? 0.5f / float(1 << random.integer(large ? 0 : 1, 12))
                                 : float(random.integer(1, 1000)) / (large ? 10.0f : 1e6f);
    return out;
}

} // namespace qs::test
