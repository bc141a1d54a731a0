// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <string_view>

namespace qs {

/// True for names that exporters count up: "1399", "onnx::Conv_497", "val_12", "t7".
bool isCountedName(std::string_view name);

/// A tensor's name, with that of its node where it says nothing by itself: "1399 · /encoder/MatMul".
QString tensorLabel(std::string_view tensor, std::string_view node);

/// A name without what exporters and quantizers append to all: "/mlp/Mul" of "/mlp/Mul/output_0".
QString withoutCommonEnd(const QString& name);

} // namespace qs
