// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/elementwise/element_program.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace qs {

namespace {

constexpr size_t kProgramTile = 1024; ///< elements; a few tiles fit in the nearest cache
constexpr size_t kMostSlots = 64;

} // namespace

ElementProgram::ElementProgram(size_t operands, std::vector<Instruction> instructions)
    : m_operands(operands)
    , m_instructions(std::move(instructions))
    , m_tiles(m_instructions.size(), 0)
{
    assert(!m_instructions.empty() && m_operands + m_instructions.size() <= kMostSlots);
    // A tile is free again after the last instruction that reads it.
    std::vector<size_t> lastRead(m_instructions.size(), 0);
    for (size_t i = 0; i < m_instructions.size(); ++i)
        for (const size_t slot : { m_instructions[i].a, m_instructions[i].op.binary ? m_instructions[i].b : 0 })
            if (slot >= m_operands)
                lastRead[slot - m_operands] = i;
    std::vector<size_t> freeFrom; // by tile
    for (size_t i = 0; i < m_instructions.size(); ++i) {
        size_t tile = 0;
        while (tile < freeFrom.size() && freeFrom[tile] > i)
            ++tile;
        if (tile == freeFrom.size())
            freeFrom.push_back(0);
        freeFrom[tile] = lastRead[i];
        m_tiles[i] = tile;
    }
    m_tileCount = freeFrom.size();
}

size_t ElementProgram::scratchFloats(std::span<const Operand> operands) const
{
    size_t floats = m_tileCount * kProgramTile;
    for (const Operand& o : operands)
        if (o.period > 1)
            floats += o.period + kProgramTile;
    return floats;
}

void ElementProgram::run(std::span<const Operand> operands, float* out, size_t begin, size_t end, float* scratch) const
{
    std::array<const float*, kMostSlots> unrolled {};
    float* next = scratch + m_tileCount * kProgramTile;
    for (size_t k = 0; k < m_operands; ++k) {
        if (operands[k].period <= 1)
            continue;
        unrolled[k] = next;
        for (size_t i = 0; i < operands[k].period + kProgramTile; i += operands[k].period)
            std::copy_n(
                operands[k].data, std::min(operands[k].period, operands[k].period + kProgramTile - i), next + i);
        next += operands[k].period + kProgramTile;
    }
    for (size_t at = begin; at < end; at += kProgramTile) {
        const size_t n = std::min(kProgramTile, end - at);
        auto slot = [&](size_t s) -> Run<float> {
            if (s >= m_operands)
                return { scratch + m_tiles[s - m_operands] * kProgramTile, 1 };
            const Operand& o = operands[s];
            if (o.period == 0)
                return { o.data + at, 1 };
            return o.period == 1 ? Run<float> { o.data, 0 } : Run<float> { unrolled[s] + at % o.period, 1 };
        };
        for (size_t i = 0; i < m_instructions.size(); ++i) {
            const Instruction& in = m_instructions[i];
            float* y = i + 1 == m_instructions.size() ? out + at : scratch + m_tiles[i] * kProgramTile;
            if (in.op.binary)
                binaryFast(in.op.op, slot(in.a), slot(in.b), y, n);
            else
                unaryFast(in.op.unary, in.op.params, slot(in.a).data, y, n);
        }
    }
}

} // namespace qs
