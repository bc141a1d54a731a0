// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/window/docks/arrangement.h"

#include <QByteArray>
#include <QString>

#include <optional>
#include <variant>
#include <vector>

namespace qs {

/// An arrangement of the panels that the user gave a name.
struct KeptLayout {
    QString name;
    QByteArray docks; ///< DockLayout::state()
    bool operator==(const KeptLayout&) const = default;
};

/// In the user's order.
using KeptLayouts = std::vector<KeptLayout>;

/// From the user's settings; what cannot be used is left out.
KeptLayouts readKeptLayouts();
void writeKeptLayouts(const KeptLayouts& layouts);

/// The layout that was chosen last: one of the program's, or the name of one of the user's.
using LayoutChoice = std::variant<LayoutName, QString>;
LayoutChoice readLayoutChoice(); ///< Inspect where nothing was chosen
void writeLayoutChoice(const LayoutChoice& choice);

std::optional<size_t> layoutNamed(const KeptLayouts& layouts, const QString& name); ///< whatever the case
/// Why a layout cannot be called so; empty where it can. That another one has the name is no reason.
QString layoutNameProblem(const QString& name);

} // namespace qs
