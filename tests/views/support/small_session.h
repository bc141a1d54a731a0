// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

namespace qs::test {

/// A session over two tiny models made in memory, compared with invented numbers:
/// x -> Conv conv_1 -> Relu relu_1 -> y, the quantized one in Q/DQ form.
class SmallSession {
public:
    /// `blocks` Conv and Relu pairs after each other, from the third on without numbers.
    explicit SmallSession(size_t blocks = 1);
    /// Publishes the snapshot; false when it does not come.
    [[nodiscard]] bool load();
    /// The same float model with a quantized one of another number of blocks.
    [[nodiscard]] bool loadQuantized(size_t blocks);
    const Graph& quantGraph() const { return (*m_snapshot)->quantModel->graph(); }

private:
    std::shared_ptr<SnapshotPtr> m_snapshot; ///< what the session's next work gives

public:
    Session session;
};

} // namespace qs::test
