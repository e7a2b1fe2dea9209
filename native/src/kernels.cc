#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

// One binary for every x86-64: the loader picks the AVX2 clone where the processor has it. Needs glibc's ifunc; elsewhere
// (musl, macOS, Windows, 64-bit Arm with its always-present NEON) the baseline code is what the compiler vectorises.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && defined(__GNUC__)
#define DISPATCHED __attribute__((target_clones("avx2", "default")))
#else
#define DISPATCHED
#endif

namespace countersign {
namespace {

// The two taps of every output column for one source row, as planes: left[p * n + x], right[p * n + x].
struct Taps {
  int32_t row = -1;
  std::vector<float> left, right;
};

struct ResizeScratch {
  std::vector<int32_t> first, second;
  std::vector<double> weight;
  Taps taps[2];
};

// Kept between calls: workers share the addon, each has its own thread.
thread_local ResizeScratch scratch;

void GatherRow(const uint8_t* row, const ResizeScratch& s, int32_t n, bool swap, Taps* taps) {
  const int red = swap ? 2 : 0, blue = 2 - red;
  float* left = taps->left.data();
  float* right = taps->right.data();
  for (int32_t x = 0; x < n; x++) {
    const uint8_t* a = row + s.first[x];
    const uint8_t* b = row + s.second[x];
    left[x] = a[red];
    left[n + x] = a[1];
    left[2 * n + x] = a[blue];
    right[x] = b[red];
    right[n + x] = b[1];
    right[2 * n + x] = b[blue];
  }
}

DISPATCHED
void BlendRow(const float* __restrict upper_left, const float* __restrict upper_right,
              const float* __restrict lower_left, const float* __restrict lower_right,
              const double* __restrict weight_x, double weight_y, const PixelFormat& format, int32_t n,
              float* __restrict out, size_t plane) {
  const double mean0 = format.mean[0], mean1 = format.mean[1], mean2 = format.mean[2];
  const double scale0 = format.scale[0], scale1 = format.scale[1], scale2 = format.scale[2];
  for (int32_t x = 0; x < n; x++) {
    const double wx = weight_x[x];
    const double wa = (1 - wx) * (1 - weight_y);
    const double wb = wx * (1 - weight_y);
    const double wc = (1 - wx) * weight_y;
    const double wd = wx * weight_y;
    const double v0 = upper_left[x] * wa + upper_right[x] * wb + lower_left[x] * wc + lower_right[x] * wd;
    const double v1 = upper_left[n + x] * wa + upper_right[n + x] * wb + lower_left[n + x] * wc + lower_right[n + x] * wd;
    const double v2 = upper_left[2 * n + x] * wa + upper_right[2 * n + x] * wb + lower_left[2 * n + x] * wc +
                      lower_right[2 * n + x] * wd;
    out[x] = static_cast<float>((v0 - mean0) * scale0);
    out[plane + x] = static_cast<float>((v1 - mean1) * scale1);
    out[2 * plane + x] = static_cast<float>((v2 - mean2) * scale2);
  }
}

DISPATCHED
void HalveRow(const uint8_t* __restrict upper, const uint8_t* __restrict lower, int32_t out_width,
              uint8_t* __restrict out) {
  for (int32_t x = 0; x < out_width; x++) {
    for (int p = 0; p < 3; p++) {
      const int i = 6 * x + p;
      out[3 * x + p] = static_cast<uint8_t>((upper[i] + upper[i + 3] + lower[i] + lower[i + 3] + 2) >> 2);
    }
  }
}

// Digit values of base64, 0xff for whatever is none.
// The 24 bits of four digits are the sum of one value from each table: bits 0 to 7 are the first byte, 16 to 23 the third.
struct Base64Values {
  uint32_t of[4][256];
  constexpr Base64Values() : of{} {
    const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int place = 0; place < 4; place++)
      for (int i = 0; i < 256; i++) of[place][i] = kInvalid;
    for (uint32_t value = 0; value < 64; value++) {
      const uint8_t digit = static_cast<uint8_t>(digits[value]);
      of[0][digit] = value << 2;
      of[1][digit] = value >> 4 | (value & 0xf) << 12;
      of[2][digit] = value >> 2 << 8 | (value & 3) << 22;
      of[3][digit] = value << 16;
    }
  }
  static constexpr uint32_t kInvalid = 0x80000000;
};

// As many independent sums: the compiler keeps them in registers, and the order is fixed on every machine.
constexpr size_t kLanes = 32;

// In single precision, since a scan only ranks: what it finds is compared again in double precision.
DISPATCHED
float DotSingle(const float* __restrict a, const float* __restrict b, size_t length) {
  float sums[kLanes] = {0};
  size_t i = 0;
  for (; i + kLanes <= length; i += kLanes)
    for (size_t k = 0; k < kLanes; k++) sums[k] += a[i + k] * b[i + k];
  float total = 0;
  for (float sum : sums) total += sum;
  for (; i < length; i++) total += a[i] * b[i];
  return total;
}

// The chip lies inside the image: coordinates are positive, so truncating is rounding down.
void WarpInside(const uint8_t* source, int32_t width, const double* chip_to_source, float* __restrict out,
                int32_t out_width, int32_t out_height, const PixelFormat& format) {
  const double a = chip_to_source[0], b = chip_to_source[1], tx = chip_to_source[2], ty = chip_to_source[3];
  const double mean0 = format.mean[0], mean1 = format.mean[1], mean2 = format.mean[2];
  const double scale0 = format.scale[0], scale1 = format.scale[1], scale2 = format.scale[2];
  const size_t plane = static_cast<size_t>(out_width) * out_height;
  const ptrdiff_t stride = static_cast<ptrdiff_t>(width) * 3;
  const int first = format.swap ? 2 : 0, last = 2 - first;
  for (int32_t y = 0; y < out_height; y++) {
    float* row = out + static_cast<size_t>(y) * out_width;
    for (int32_t x = 0; x < out_width; x++) {
      const double source_x = a * x - b * y + tx;
      const double source_y = b * x + a * y + ty;
      const int32_t left = static_cast<int32_t>(source_x), top = static_cast<int32_t>(source_y);
      const double wx = source_x - left, wy = source_y - top;
      const double wa = (1 - wx) * (1 - wy), wb = wx * (1 - wy), wc = (1 - wx) * wy, wd = wx * wy;
      const uint8_t* p = source + top * stride + static_cast<ptrdiff_t>(left) * 3;
      const uint8_t* q = p + stride;
      const double v0 = p[first] * wa + p[first + 3] * wb + q[first] * wc + q[first + 3] * wd;
      const double v1 = p[1] * wa + p[4] * wb + q[1] * wc + q[4] * wd;
      const double v2 = p[last] * wa + p[last + 3] * wb + q[last] * wc + q[last + 3] * wd;
      row[x] = static_cast<float>((v0 - mean0) * scale0);
      row[x + plane] = static_cast<float>((v1 - mean1) * scale1);
      row[x + 2 * plane] = static_cast<float>((v2 - mean2) * scale2);
    }
  }
}

void WarpAcrossEdges(const uint8_t* source, int32_t width, int32_t height, const double* chip_to_source, float* out,
                     int32_t out_width, int32_t out_height, const PixelFormat& format) {
  const double a = chip_to_source[0], b = chip_to_source[1], tx = chip_to_source[2], ty = chip_to_source[3];
  const size_t plane = static_cast<size_t>(out_width) * out_height;
  const ptrdiff_t stride = static_cast<ptrdiff_t>(width) * 3;
  const int channel[3] = {format.swap ? 2 : 0, 1, format.swap ? 0 : 2};
  size_t to = 0;
  for (int32_t y = 0; y < out_height; y++) {
    for (int32_t x = 0; x < out_width; x++, to++) {
      const double source_x = a * x - b * y + tx;
      const double source_y = b * x + a * y + ty;
      const double floor_x = std::floor(source_x), floor_y = std::floor(source_y);
      const double wx = source_x - floor_x, wy = source_y - floor_y;
      double wa = (1 - wx) * (1 - wy), wb = wx * (1 - wy), wc = (1 - wx) * wy, wd = wx * wy;
      // Far outside, the number need not fit an integer.
      const double near_x = std::min(std::max(floor_x, -2.0), width + 1.0);
      const double near_y = std::min(std::max(floor_y, -2.0), height + 1.0);
      const int32_t left = static_cast<int32_t>(near_x), top = static_cast<int32_t>(near_y);
      ptrdiff_t right = 3, below = stride;
      int32_t column = left, row = top;
      if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) {
        // A corner outside the image weighs nothing; all four then read a valid pixel, whichever it is.
        if (left < 0 || left >= width) wa = wc = 0;
        if (left + 1 < 0 || left + 1 >= width) wb = wd = 0;
        if (top < 0 || top >= height) wa = wb = 0;
        if (top + 1 < 0 || top + 1 >= height) wc = wd = 0;
        column = std::min(std::max(left, 0), width - 1);
        row = std::min(std::max(top, 0), height - 1);
        right = left >= 0 && left + 1 < width ? 3 : 0;
        below = top >= 0 && top + 1 < height ? stride : 0;
      }
      const uint8_t* at = source + row * stride + static_cast<ptrdiff_t>(column) * 3;
      for (int p = 0; p < 3; p++) {
        const uint8_t* from = at + channel[p];
        const double value = from[0] * wa + from[right] * wb + from[below] * wc + from[below + right] * wd;
        out[to + p * plane] = static_cast<float>((value - format.mean[p]) * format.scale[p]);
      }
    }
  }
}

}  // namespace

void ResizeToPlanar(const uint8_t* source, int32_t source_width, const Rect& from, float* out, int32_t out_width,
                    int32_t out_height, const Rect& to, const PixelFormat& format) {
  const size_t plane = static_cast<size_t>(out_width) * out_height;
  if (to.width != out_width || to.height != out_height)
    for (int p = 0; p < 3; p++)
      std::fill_n(out + p * plane, plane, static_cast<float>((0 - format.mean[p]) * format.scale[p]));

  const int32_t n = to.width;
  ResizeScratch& s = scratch;
  s.first.resize(n);
  s.second.resize(n);
  s.weight.resize(n);
  for (Taps& taps : s.taps) {
    taps.row = -1;
    taps.left.resize(3 * static_cast<size_t>(n));
    taps.right.resize(3 * static_cast<size_t>(n));
  }
  const double step_x = static_cast<double>(from.width) / to.width;
  const double step_y = static_cast<double>(from.height) / to.height;
  for (int32_t x = 0; x < n; x++) {
    const double at = std::min(std::max((x + 0.5) * step_x - 0.5, 0.0), from.width - 1.0);
    const int32_t first = static_cast<int32_t>(std::floor(at));
    s.first[x] = (from.left + first) * 3;
    s.second[x] = (from.left + std::min(first + 1, from.width - 1)) * 3;
    s.weight[x] = at - first;
  }

  const size_t stride = static_cast<size_t>(source_width) * 3;
  // Neighbouring output rows often share a source row; the two gathered last are at hand.
  auto gathered = [&](int32_t row, const Taps* keep) -> Taps* {
    for (Taps& taps : s.taps)
      if (taps.row == row) return &taps;
    Taps* free = keep == &s.taps[0] ? &s.taps[1] : &s.taps[0];
    GatherRow(source + row * stride, s, n, format.swap, free);
    free->row = row;
    return free;
  };
  for (int32_t y = 0; y < to.height; y++) {
    const double at = std::min(std::max((y + 0.5) * step_y - 0.5, 0.0), from.height - 1.0);
    const int32_t first = static_cast<int32_t>(std::floor(at));
    const int32_t upper_row = from.top + first;
    const int32_t lower_row = from.top + std::min(first + 1, from.height - 1);
    // The lower row first: it may be the one that the last output row left behind as its own lower.
    const Taps* known = nullptr;
    for (const Taps& taps : s.taps)
      if (taps.row == lower_row) known = &taps;
    const Taps* upper = gathered(upper_row, known);
    const Taps* lower = gathered(lower_row, upper);
    float* row = out + static_cast<size_t>(to.top + y) * out_width + to.left;
    BlendRow(upper->left.data(), upper->right.data(), lower->left.data(), lower->right.data(), s.weight.data(),
             at - first, format, n, row, plane);
  }
}

void WarpToPlanar(const uint8_t* source, int32_t width, int32_t height, const double* chip_to_source, float* out,
                  int32_t out_width, int32_t out_height, const PixelFormat& format) {
  // The transform is affine: when the chip's corners read inside the image, every pixel does.
  bool inside = true;
  for (int corner = 0; corner < 4; corner++) {
    const double x = corner & 1 ? out_width - 1 : 0, y = corner & 2 ? out_height - 1 : 0;
    const double source_x = chip_to_source[0] * x - chip_to_source[1] * y + chip_to_source[2];
    const double source_y = chip_to_source[1] * x + chip_to_source[0] * y + chip_to_source[3];
    // A pixel of margin, for the rounding of what lies between the corners.
    inside = inside && source_x >= 1 && source_y >= 1 && source_x < width - 2 && source_y < height - 2;
  }
  if (inside)
    WarpInside(source, width, chip_to_source, out, out_width, out_height, format);
  else
    WarpAcrossEdges(source, width, height, chip_to_source, out, out_width, out_height, format);
}

void HalveSize(const uint8_t* source, int32_t width, int32_t height, uint8_t* out) {
  const int32_t out_width = width >> 1, out_height = height >> 1;
  const size_t stride = static_cast<size_t>(width) * 3;
  for (int32_t y = 0; y < out_height; y++) {
    const uint8_t* upper = source + 2 * y * stride;
    HalveRow(upper, upper + stride, out_width, out + static_cast<size_t>(y) * out_width * 3);
  }
}

int64_t DecodeBase64(const uint8_t* text, size_t length, uint8_t* out) {
  static constexpr Base64Values table;
  if (length == 0) return 0;
  if (length % 4 != 0) return -1;
  const int padding = text[length - 1] != '=' ? 0 : text[length - 2] != '=' ? 1 : 2;
  const size_t whole = padding == 0 ? length : length - 4;
  uint8_t* to = out;
  // An invalid digit sets a bit that no valid one has; it is looked at once, at the end.
  uint32_t all = 0;
  for (const uint8_t* from = text; from < text + whole; from += 4) {
    const uint32_t three = table.of[0][from[0]] | table.of[1][from[1]] | table.of[2][from[2]] | table.of[3][from[3]];
    all |= three;
    *to++ = static_cast<uint8_t>(three);
    *to++ = static_cast<uint8_t>(three >> 8);
    *to++ = static_cast<uint8_t>(three >> 16);
  }
  if (padding > 0) {
    const uint8_t* from = text + whole;
    const uint32_t rest = table.of[0][from[0]] | table.of[1][from[1]] | (padding == 1 ? table.of[2][from[2]] : 0);
    all |= rest;
    *to++ = static_cast<uint8_t>(rest);
    if (padding == 1) *to++ = static_cast<uint8_t>(rest >> 8);
  }
  return all & Base64Values::kInvalid ? -1 : to - out;
}

void MirrorPlanar(const float* source, float* out, int32_t width, size_t rows) {
  for (size_t row = 0; row < rows; row++)
    std::reverse_copy(source + row * width, source + (row + 1) * width, out + row * width);
}

void DotMany(const float* query, const float* rows, size_t count, size_t length, float* out) {
  for (size_t i = 0; i < count; i++) out[i] = DotSingle(query, rows + i * length, length);
}

}  // namespace countersign
