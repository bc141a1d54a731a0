// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/element_differences.h"
#include "core/analysis/lab/ladder.h"
#include "core/project/about/file_facts.h"
#include "widgets/models/base/row_model.h"

namespace qs {

/// The models of a comparison side by side: size, work, time and worth.
class FileModel : public RowModel<FileFacts> {
    Q_OBJECT
public:
    explicit FileModel(QObject* parent = nullptr);
    void setFiles(std::vector<FileFacts> files) { setRows(std::move(files)); }

protected:
    bool isSame(const FileFacts& a, const FileFacts& b) const override { return a.role == b.role; }
};

/// Two models element by element, one row a value.
class ElementModel : public RowModel<ElementRow> {
    Q_OBJECT
public:
    enum class Key { Share };
    explicit ElementModel(QObject* parent = nullptr);
    void setElements(std::vector<ElementRow> rows) { setRows(std::move(rows)); }

protected:
    bool isSame(const ElementRow& a, const ElementRow& b) const override { return a.name == b.name; }
    QString filterText(const ElementRow& row) const override;
};

/// From the framework's values to the device's, one row a value on a step.
class LadderModel : public RowModel<LadderRow> {
    Q_OBJECT
public:
    explicit LadderModel(QObject* parent = nullptr);
    void setLadder(std::vector<LadderRow> rows) { setRows(std::move(rows)); }

protected:
    bool isSame(const LadderRow& a, const LadderRow& b) const override { return a.step == b.step && a.name == b.name; }
    QString filterText(const LadderRow& row) const override;
};

/// "12 of 30 values have elements beyond the tolerance", or that none has.
QString elementsText(const ElementDifferences& found);
/// "every step agrees with the one before it", or where agreement ends.
QString ladderText(const Ladder& ladder);

} // namespace qs
