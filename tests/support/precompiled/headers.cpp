// SPDX-License-Identifier: GPL-3.0-or-later
// Empty: a target that compiles headers needs a source.
