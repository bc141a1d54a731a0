// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/agreement/task_rows.h"

namespace qs {

namespace {

Number partOf(double part, double whole) { return whole > 0 ? Number(part / whole) : std::nullopt; }

/// Of both models' boxes, those with a counterpart.
Number boxAgreement(const BoxSums& b) { return partOf(2 * b.matched, b.floatBoxes + b.quantBoxes); }

TaskSample scoredSample(const ScoreSums& s)
{
    TaskSample sample;
    sample.agreement = partOf(s.agreeing, s.positions);
    sample.differs = s.agreeing < s.positions;
    if (s.positions > 1 && sample.differs)
        sample.firstDifference = s.commonStart;
    return sample;
}

/// Type and operator leave open how many positions there are, or whether there are scores at all: what was measured
/// tells.
void settleKind(const ScoreSums& sums, size_t samples, TaskRow& row)
{
    if (row.told)
        return;
    if (sums.positions == 0)
        row.what = {};
    else if (sums.positions > double(samples))
        row.what.kind = TaskKind::Sequence;
}

template <class Use> size_t forDone(const Measured& m, size_t index, Use use)
{
    size_t done = 0;
    for (size_t s = 0; s < m.samples; ++s)
        if (m.done[s]) {
            use(index * m.samples + s);
            ++done;
        }
    return done;
}

void fillScored(const Measured& m, size_t index, TaskRow& row)
{
    ScoreSums sums;
    const size_t done = forDone(m, index, [&](size_t cell) {
        sums.merge(m.scores[cell]);
        row.samples.push_back(scoredSample(m.scores[cell]));
    });
    settleKind(sums, done, row);
    row.parts = sums.positions;
    row.agreement = row.partAgreement = partOf(sums.agreeing, sums.positions);
    if (row.what.kind != TaskKind::Sequence)
        return;
    row.commonStart = partOf(sums.commonStart, double(done));
    row.counts = m.parts[index]->now();
}

void fillMask(const Measured& m, size_t index, TaskRow& row)
{
    double agreeing = 0;
    forDone(m, index, [&](size_t cell) {
        const MaskSums& sums = m.masks[cell];
        row.parts += sums.pixels;
        agreeing += sums.agreeing;
        TaskSample sample;
        if (sums.overlap >= 0)
            sample.agreement = sums.overlap;
        row.samples.push_back(sample);
    });
    row.partAgreement = partOf(agreeing, row.parts);
    row.counts = m.parts[index]->now();
    double total = 0, classes = 0;
    for (size_t c = 0; c < row.counts.all.size(); ++c)
        if (const Number overlap = shareOf(row.counts, c)) {
            total += *overlap;
            ++classes;
        }
    row.agreement = partOf(total, classes);
}

void fillBoxes(const Measured& m, size_t index, TaskRow& row)
{
    forDone(m, index, [&](size_t cell) {
        const BoxSums& sums = m.boxes[cell];
        row.boxes.merge(sums);
        row.samples.push_back({ boxAgreement(sums), {}, sums, !sums.same() });
    });
    row.agreement = boxAgreement(row.boxes);
}

} // namespace

Number TaskRow::matchedShare() const { return partOf(boxes.matched, boxes.floatBoxes); }

Number TaskRow::meanOverlap() const { return partOf(boxes.overlap, boxes.matched); }

Number TaskRow::confidenceDifference() const { return partOf(boxes.confidence, boxes.matched); }

Number shareOf(const PartCounts& counts, size_t part)
{
    return part < counts.all.size() ? partOf(double(counts.same[part]), double(counts.all[part])) : std::nullopt;
}

TaskRow taskRow(const ComparePair& pair, const std::vector<OutputPair>& outputs, size_t index, const Measured& measured)
{
    const OutputTask& task = outputs[index].task;
    TaskRow row;
    row.what = task.what;
    row.told = task.told;
    row.thresholds = pair.tasks.boxes;
    if (row.what.kind == TaskKind::Classes || row.what.kind == TaskKind::Sequence)
        fillScored(measured, index, row);
    else if (row.what.kind == TaskKind::Mask)
        fillMask(measured, index, row);
    else if (row.what.kind == TaskKind::Boxes && task.primary != index)
        row.measuredAt = outputs[task.primary].name;
    else if (row.what.kind == TaskKind::Boxes)
        fillBoxes(measured, index, row);
    if (row.what.kind == TaskKind::Values)
        row.samples.clear();
    for (const TaskSample& sample : row.samples)
        row.differing += sample.differs;
    return row;
}

} // namespace qs
