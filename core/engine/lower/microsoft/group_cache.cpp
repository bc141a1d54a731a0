// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/group_cache.h"

#include "core/kernels/sequence/cache_codes.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

Result<CacheForm> CacheForm::of(const Node& node)
{
    const Attributes& a = node.attributes;
    const std::string keys = a.text("k_quant_type", "NONE"), values = a.text("v_quant_type", "NONE");
    CacheForm form { 0, keys == "PER_CHANNEL", 0 };
    if (a.integer("sliding_window_cache", 0)) {
        form.window = a.integer("local_window_size", -1);
        if (form.window < 1)
            return badInput("sliding_window_cache needs a local_window_size");
    }
    if (keys != values)
        return badInput("k_quant_type " + keys + " and v_quant_type " + values + " are not the same");
    if (keys == "NONE")
        return form;
    form.bits = a.integer("kv_cache_bit_width", 0);
    if ((keys != "PER_CHANNEL" && keys != "PER_TENSOR") || (form.bits != 8 && form.bits != 4))
        return badInput("a cache of " + std::to_string(form.bits) + " bits, " + keys
            + ", is not supported; 8 and 4 bits, PER_TENSOR and PER_CHANNEL are");
    return form;
}

namespace {

bool hasTokens(const Tensor* cache) { return cache && (cache->rank() != 4 || cache->dim(2) != 0); }

/// Tokens that a sliding cache with room for `capacity` keeps of `total`: not fewer than the window, and the same
/// however the tokens came. Source: ONNX Runtime's operator documentation.
int64_t keptBySliding(int64_t total, int64_t capacity, int64_t window)
{
    if (total <= capacity)
        return total;
    const int64_t step = capacity - window + 1;
    return total - step * ((total - capacity + step - 1) / step);
}

/// The line behind `past` tokens, of which `cached` at most are in the cache.
GroupLine lineBehind(const CacheForm& form, int64_t past, int64_t cached, int64_t fresh)
{
    GroupLine line { 0, past, fresh, past, past + fresh };
    if (form.slides() && past > 0) {
        line.kept = line.before = keptBySliding(past, cached, form.window);
        line.first = past - line.kept;
        line.known = line.kept + fresh;
    }
    return line;
}

Result<GroupLine> groupLine(const GroupLengths& l, const CacheForm& form, int64_t total, int64_t cached)
{
    GroupLine line { 0, 0, l.fresh, 0, total };
    const auto misfit = [&] {
        return badInput("seqlens_k " + std::to_string(total - 1) + " does not fit " + std::to_string(l.queries)
            + " tokens and a cache of " + std::to_string(cached));
    };
    if (total < 1 || total > l.total)
        return misfit();
    if (l.fresh == 0) { // all keys are in the cache
        line.kept = total;
        line.before = l.prompt ? 0 : total - l.queries;
    } else if (!l.prompt && cached > 0) {
        line = lineBehind(form, total - l.queries, cached, l.queries);
    }
    if (line.before < 0 || line.kept < 0 || line.kept > cached)
        return misfit();
    return line;
}

/// Of a sample of which query_seqlens says how many queries count.
Result<GroupLine> paddedLine(const GroupLengths& l, const CacheForm& form, int64_t total, int64_t fresh, int64_t cached)
{
    const int64_t past = total - fresh;
    const bool fits = form.slides() ? past == 0 || cached > 0 : past <= cached && past + l.queries <= l.present;
    if (total < 1 || total > l.total || fresh < 0 || fresh > std::min(l.queries, total) || !fits)
        return badInput("query_seqlens " + std::to_string(fresh) + " and seqlens_k " + std::to_string(total - 1)
            + " do not fit " + std::to_string(l.queries) + " tokens and a cache of " + std::to_string(cached));
    return lineBehind(form, past, cached, fresh);
}

} // namespace

/// No cache has as many tokens.
constexpr int64_t kFarthest = int64_t(1) << 62;

Result<GroupLengths> groupLengths(const StepContext& s, const CacheForm& form, int64_t fresh)
{
    const Tensor &last = s.in(5), &all = s.in(6);
    const Tensor* counts = s.input(16);
    GroupLengths l { s.in(0).dim(0), s.in(0).dim(1), fresh, 0, 0, 0, false, counts != nullptr, {} };
    if (last.count() != l.batch || all.count() != 1 || !isInteger(last.dtype()) || !isInteger(all.dtype()))
        return badInput("seqlens_k or total_sequence_length does not fit");
    if (counts && (counts->count() != l.batch || !isInteger(counts->dtype()) || fresh != l.queries || !s.input(3)))
        return badInput("query_seqlens needs a number for each sample, new keys and a cache");
    const int64_t cached = s.input(3) ? s.in(3).dim(2) : 0;
    l.total = elementAsInt(all, 0);
    l.prompt = !counts && l.total == l.queries;
    if (l.total < l.queries || (!counts && !form.slides() && l.total > l.queries + cached))
        return badInput("total_sequence_length " + std::to_string(l.total) + " does not fit "
            + std::to_string(l.queries) + " tokens behind a cache of " + std::to_string(cached));
    if (form.slides() && cached > 0 && cached < form.window)
        return badInput("a sliding cache of " + std::to_string(cached) + " tokens does not hold a window of "
            + std::to_string(form.window));
    // An empty cache makes room for the window.
    l.present = !form.slides() ? std::max(l.total, cached) : cached > 0 ? cached : form.window;
    for (int64_t b = 0; b < l.batch; ++b) {
        const auto bounded = [b](const Tensor& t) { return std::clamp(elementAsInt(t, b), -kFarthest, kFarthest); };
        const int64_t total = bounded(last) + 1;
        QS_TRY(const GroupLine line,
            counts ? paddedLine(l, form, total, bounded(*counts), cached) : groupLine(l, form, total, cached));
        l.line = std::max({ l.line, line.kept + l.fresh, line.known });
        l.lines.push_back(line);
    }
    return l;
}

namespace {

/// The sizes of a cache, its rows in bytes: rows of whole elements are moved alone.
struct StoredRows {
    const Tensor& tensor;
    int64_t lines() const { return tensor.dim(0) * tensor.dim(1); }
    int64_t rows() const { return tensor.dim(2); }
    size_t rowBytes() const { return static_cast<size_t>(tensor.dim(3)) * dtypeBits(tensor.dtype()) / 8; }
    size_t place(int64_t line, int64_t row) const { return static_cast<size_t>(line * rows() + row) * rowBytes(); }
};

void copyRows(const Tensor& from, int64_t firstFrom, Tensor& to, int64_t firstTo, int64_t count, int64_t line)
{
    const StoredRows a { from }, b { to };
    if (count > 0)
        std::copy_n(from.bytes().data() + a.place(line, firstFrom), static_cast<size_t>(count) * a.rowBytes(),
            writable(to) + b.place(line, firstTo));
}

Tensor emptyRows(const StepContext& s, const Tensor& like, int64_t rows)
{
    Tensor t = s.allocate(like.dtype(), { like.dim(0), like.dim(1), rows, like.dim(3) });
    std::fill_n(writable(t), t.byteCount(), std::byte(0));
    return t;
}

/// What is kept of the cache, and the new rows behind it; 0 where a line is shorter than others.
Tensor joinedRows(const StepContext& s, const GroupLengths& l, const Tensor* cache, const Tensor& fresh)
{
    Tensor y = emptyRows(s, fresh, l.line);
    for (int64_t line = 0; line < y.dim(0) * y.dim(1); ++line) {
        const GroupLine& g = l.lines[static_cast<size_t>(line / y.dim(1))];
        if (cache)
            copyRows(*cache, 0, y, 0, g.kept, line);
        copyRows(fresh, 0, y, g.kept, g.fresh, line);
    }
    return y;
}

/// The lines as caches: so many rows, of a sliding cache the last ones.
Tensor presentRows(const StepContext& s, const CacheForm& form, const GroupLengths& l, const Tensor& lines)
{
    if (!form.slides() && l.present == l.line)
        return lines;
    Tensor y = emptyRows(s, lines, l.present);
    for (int64_t line = 0; line < y.dim(0) * y.dim(1); ++line) {
        const GroupLine& g = l.lines[static_cast<size_t>(line / y.dim(1))];
        int64_t count = std::min(l.line, l.present), from = 0;
        if (form.slides()) {
            count = keptBySliding(g.first + g.known, l.present, form.window);
            from = g.known - count;
        }
        copyRows(lines, from, y, 0, count, line);
    }
    return y;
}

/// How `fresh` (batch x heads x tokens x size) becomes codes.
Result<CacheCodes> cacheCodes(const CacheForm& form, const Tensor* scale, const Tensor& fresh,
    std::vector<float>& values, const std::string& name)
{
    CacheCodes codes { form.bits, fresh.dim(1), fresh.dim(3), nullptr, form.perChannel };
    const int64_t wanted = form.perChannel ? codes.heads * codes.size : 1;
    if (!scale || !isFloat(scale->dtype()) || scale->count() != wanted)
        return badInput("the scale of " + name + " must be " + std::to_string(wanted) + " numbers, not "
            + (scale ? shapeText(scale->shape()) : "absent"));
    values = toFloats(*scale);
    codes.scale = values.data();
    return codes;
}

Tensor encoded(const StepContext& s, const CacheCodes& codes, const Tensor& fresh, DType stored)
{
    const Tensor x = asWork<float>(s, fresh);
    Tensor y = s.allocate(stored, { x.dim(0), x.dim(1), x.dim(2), codes.rowBytes() });
    quantizeCache(codes, x.data<float>().data(), x.dim(0), x.dim(2), reinterpret_cast<uint8_t*>(writable(y)));
    return y;
}

Tensor decoded(const StepContext& s, const CacheCodes& codes, const Tensor& lines, DType work)
{
    Tensor y = s.allocate(DType::Float32, { lines.dim(0), lines.dim(1), lines.dim(2), codes.size });
    dequantizeCache(
        codes, reinterpret_cast<const uint8_t*>(lines.bytes().data()), y.dim(0), y.dim(2), y.fill<float>().data());
    return asWorkType(s, y, work);
}

Status checkCache(const Tensor& cache, const Tensor& rows, bool codes, const char* name)
{
    const bool type = codes ? cache.dtype() == rows.dtype() : isComputedFloat(cache.dtype());
    if (cache.rank() == 4 && cache.dim(0) == rows.dim(0) && cache.dim(1) == rows.dim(1) && cache.dim(3) == rows.dim(3)
        && type)
        return {};
    return badInput(std::string(name) + " of type " + std::string(dtypeName(cache.dtype())) + " and shape "
        + shapeText(cache.shape()) + " does not fit new rows of type " + std::string(dtypeName(rows.dtype()))
        + " and shape " + shapeText(rows.shape()));
}

} // namespace

Result<GroupCache> extendedCache(const StepContext& s, const CacheForm& form, const GroupLengths& l,
    const Tensor* cache, const Tensor* scale, const Tensor& fresh, DType type, const char* name)
{
    const DType work = fresh.dtype();
    std::vector<float> values;
    CacheCodes codes;
    if (form.bits) {
        QS_TRY(codes, cacheCodes(form, scale, fresh, values, name));
    }
    const Tensor rows = form.bits ? encoded(s, codes, fresh, form.stored(type)) : asStored(s, fresh, type);
    Tensor known;
    if (hasTokens(cache)) {
        QS_CHECK(checkCache(*cache, rows, form.bits != 0, name));
        known = form.bits || cache->dtype() == type ? *cache : asStored(s, asWorkType(s, *cache, work), type);
    }
    const Tensor lines = joinedRows(s, l, known.valid() ? &known : nullptr, rows);
    GroupCache made;
    made.present = presentRows(s, form, l, lines);
    made.line = form.bits ? decoded(s, codes, lines, work) : asWorkType(s, lines, work);
    return made;
}

Tensor uncodedRows(
    const StepContext& s, const CacheForm& form, const GroupLengths& l, const GroupCache& made, const Tensor& fresh)
{
    const Tensor line = asWork<float>(s, made.line);
    const Tensor known = l.line > l.fresh ? line : Tensor(); // of a prompt nothing was cached
    return presentRows(s, form, l, joinedRows(s, l, known.valid() ? &known : nullptr, asWork<float>(s, fresh)));
}

Tensor stackedRows(const StepContext& s, const Tensor& first, const Tensor& second)
{
    if (first.shape() != second.shape())
        return {};
    Shape shape = first.shape();
    shape.insert(shape.begin(), 2);
    Tensor y = s.allocate(DType::Float32, std::move(shape));
    const auto to = y.fill<float>();
    std::ranges::copy(first.data<float>(), to.begin());
    std::ranges::copy(second.data<float>(), to.begin() + first.count());
    return y;
}

} // namespace qs
