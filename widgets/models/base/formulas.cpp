// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/formulas.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/translated.h"

#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr double kNone = 0.005; ///< of the noise

QString wholePercent(double fraction)
{
    return numberText(std::round(plainShare(fraction) * 100)) + QStringLiteral(" %");
}

double totalNoise(const NoiseSplit& noise)
{
    return noise.clipping.value_or(0) + noise.rounding.value_or(0) + noise.weights.value_or(0)
        + noise.kernel.value_or(0) + noise.inherited.value_or(0);
}

} // namespace

bool hasKernelNoise(const Comparison* comparison)
{
    return comparison && std::ranges::any_of(comparison->activations, [](const ActivationRow& row) {
        return bool(row.noise.kernel);
    });
}

std::optional<NoiseShares> noiseShares(const ActivationRow& row)
{
    const NoiseSplit& noise = row.noise;
    if (!noise.clipping || !noise.rounding || !noise.inherited)
        return {};
    const double total = totalNoise(noise);
    if (!(total > 0) || !std::isfinite(total))
        return {};
    return NoiseShares { *noise.clipping / total, *noise.rounding / total, noise.weights.value_or(0) / total,
        *noise.inherited / total, noise.kernel ? Number(*noise.kernel / total) : Number() };
}

double plainShare(double share) { return cancels(share) ? share : std::clamp(share, 0.0, 1.0); }

bool cancels(double share) { return share <= -kNone || share >= 1 + kNone; }

QString noiseText(const std::optional<NoiseShares>& shares)
{
    if (!shares)
        return absentText();
    const QString cancelling = std::ranges::any_of(std::array { shares->clipping, shares->rounding, shares->weights,
                                                       shares->kernel.value_or(0), shares->inherited },
                                   cancels)
        ? tr("parts cancel: ")
        : QString();
    return cancelling
        + tr("clip %1, round %2, weights %3, %4inputs %5")
              .arg(wholePercent(shares->clipping), wholePercent(shares->rounding), wholePercent(shares->weights),
                  shares->kernel ? tr("kernel %1, ").arg(wholePercent(*shares->kernel)) : QString(),
                  wholePercent(shares->inherited));
}

QString noiseFormula(const ActivationRow& row)
{
    const auto shares = noiseShares(row);
    if (!shares)
        return tr("No error to split here, or no quantizer of its own.");
    const double total = totalNoise(row.noise);
    const QString kernel = row.noise.kernel
        ? tr("+ integer kernel %1 (%2)\n").arg(numberText(row.noise.kernel), wholePercent(*shares->kernel))
        : QString();
    return tr("Mean squared error %1 =\nclipping %2 (%3)\n+ rounding %4 (%5)\n+ own weights %6 (%7), estimated\n%10+ "
              "inputs %8 (%9)\nParts that cancel can be "
              "negative or exceed 100 %.")
        .arg(numberText(total), numberText(row.noise.clipping), wholePercent(shares->clipping),
            numberText(row.noise.rounding), wholePercent(shares->rounding), numberText(row.noise.weights),
            wholePercent(shares->weights), numberText(row.noise.inherited), wholePercent(shares->inherited))
        .arg(kernel);
}

QString provenanceText(const Comparison& comparison)
{
    const QString samples = samplesText(comparison.samples);
    const QString text = samples + QStringLiteral(", ") + toQt(profileName(comparison.profile));
    return comparison.partial ? text + tr(", partial") : text;
}

QString noisePowerText(double sqnrDb)
{
    return tr("%1 noise power").arg(numberText(100 * std::pow(10, -sqnrDb / 10)) + QStringLiteral(" %"));
}

QString sqnrFormula(const Similarity& similarity, const Comparison& comparison)
{
    QStringList lines { tr("SQNR = %1, higher is better").arg(toQt(definition::kAccumulated.formula)) };
    if (similarity.exact)
        lines << tr("x = y everywhere: exact");
    if (similarity.sqnrDb && similarity.rmse) {
        const double root = *similarity.rmse * std::sqrt(double(similarity.elements));
        const double signal = root * std::pow(10, *similarity.sqnrDb / 20);
        lines << QStringLiteral("= 20·log10(%1 / %2) = %3")
                     .arg(numberText(signal), numberText(root), decibelText(similarity.sqnrDb));
        lines << QStringLiteral("= ") + noisePowerText(*similarity.sqnrDb);
    }
    lines << tr("over %1 elements, %2").arg(countText(similarity.elements), provenanceText(comparison));
    if (similarity.nonFinite > 0)
        lines << tr("%1 NaN or infinite elements left out").arg(countText(similarity.nonFinite));
    return lines.join(u'\n');
}

QString accumulatedFormula(const ActivationRow& row, const Comparison& comparison)
{
    return tr("Accumulated error up to here.") + u'\n' + sqnrFormula(row.accumulated, comparison);
}

QString addedFormula(const ActivationRow& row, const Comparison& comparison)
{
    QStringList lines { metricInfo(Metric::Added).definition };
    if (row.localSqnrDb && row.idealSqnrDb)
        lines << tr("%1, %2 against the ideal %3")
                     .arg(decibelText(row.localSqnrDb), signedDecibelText(*row.localSqnrDb - *row.idealSqnrDb),
                         decibelText(row.idealSqnrDb));
    lines << tr("over %1").arg(provenanceText(comparison));
    return lines.join(u'\n');
}

QString idealFormula(const ActivationRow& row)
{
    QStringList lines { tr("ideal = %1").arg(toQt(definition::kIdeal.formula)) };
    if (row.idealSqnrDb && row.signalPower && row.params.perTensor() && isInteger(row.params.dtype))
        lines << QStringLiteral("= 10·log10(%1 / (%2² / 12)) = %3")
                     .arg(numberText(row.signalPower), numberText(row.params.scale.front()),
                         decibelText(row.idealSqnrDb));
    lines << tr("A reference line, not a bound.");
    return lines.join(u'\n');
}

QString clippedFormula(const ActivationRow& row)
{
    QStringList lines { metricInfo(Metric::Clipped).definition };
    if (row.floatClippedFraction)
        lines << tr("of the float data, %1 lie beyond the range").arg(percentText(row.floatClippedFraction));
    if (row.range && row.observedRange)
        lines << tr("representable %1, observed %2").arg(rangeText(row.range), rangeText(row.observedRange));
    return lines.join(u'\n');
}

} // namespace qs
