// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/token_blame.h"
#include "widgets/session/session.h"

#include <QTreeWidget>

#include <memory>

namespace qs {

/// Which parts moved one guess, layers with their nodes, those that moved it most first. Choosing a node selects it.
class BlameTree : public QTreeWidget {
    Q_OBJECT
public:
    explicit BlameTree(Session& session, QWidget* parent = nullptr);
    void setBlame(const std::shared_ptr<const TokenBlame>& blame); ///< null: nothing; the same again changes nothing

private:
    Session& m_session;
    std::shared_ptr<const TokenBlame> m_blame;
};

} // namespace qs
