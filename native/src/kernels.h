// The engine's pixel kernels, the scan over references and the decoder of base64. Each has a TypeScript twin in src/biometrics/kernels that gives the same numbers:
// pixels to the bit (double arithmetic in the same order, no fused multiply-add), the scan's sums to rounding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace countersign {

// Rectangle of an image, whole pixels.
struct Rect {
  int32_t left, top, width, height;
};

// How a plane is made from a channel: (v - mean) * scale, channel p or 2 - p.
struct PixelFormat {
  bool swap;
  const double* mean;   // [3]
  const double* scale;  // [3]
};

// Bilinear, half-pixel centres, clamped to `from`; outside `to` the tensor holds a normalised 0.
// source: [? x source_width x 3] bytes; out: [3 x out_height x out_width]
void ResizeToPlanar(const uint8_t* source, int32_t source_width, const Rect& from, float* out, int32_t out_width,
                    int32_t out_height, const Rect& to, const PixelFormat& format);

// Inverse warp by (a, b, tx, ty), bilinear, 0 outside the image.
// source: [height x width x 3] bytes; out: [3 x out_height x out_width]
void WarpToPlanar(const uint8_t* source, int32_t width, int32_t height, const double* chip_to_source, float* out,
                  int32_t out_width, int32_t out_height, const PixelFormat& format);

// Means of 2 x 2 blocks, rounded. out: [height/2 x width/2 x 3]
void HalveSize(const uint8_t* source, int32_t width, int32_t height, uint8_t* out);

// Left to right, row by row.
void MirrorPlanar(const float* source, float* out, int32_t width, size_t rows);

// out[i] = dot(query, row i); rows: [count x length]
void DotMany(const float* query, const float* rows, size_t count, size_t length, float* out);

// Strict base64 (RFC 4648, section 4). Returns the bytes written, or -1 when the text is not base64.
// out: length / 4 * 3 bytes, less one for each padding character
int64_t DecodeBase64(const uint8_t* text, size_t length, uint8_t* out);

}  // namespace countersign
