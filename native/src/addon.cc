// Node-API bindings of the kernels. Every size is checked here, so that no kernel can leave its arrays: a wrong call is a
// RangeError, never a crash.
#define NAPI_VERSION 8
#include <node_api.h>

#include <cmath>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "kernels.h"

namespace {

using countersign::PixelFormat;
using countersign::Rect;

constexpr size_t kMostArguments = 16;

// Reads the arguments one after another; the first that does not fit is reported and stops the call.
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info, size_t expected) : env_(env), count_(kMostArguments) {
    if (napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr) != napi_ok || count_ < expected)
      Fail("too few arguments");
  }

  bool ok() const { return ok_; }

  void Require(bool condition, const char* what) {
    if (!condition) Fail(what);
  }

  template <typename T>
  T* Array(napi_typedarray_type type, size_t* length) {
    if (!ok_) return nullptr;
    napi_typedarray_type actual;
    void* data = nullptr;
    if (napi_get_typedarray_info(env_, values_[next_++], &actual, length, &data, nullptr, nullptr) != napi_ok ||
        (actual != type && !(type == napi_uint8_array && actual == napi_uint8_clamped_array))) {
      Fail("a typed array of another type");
      return nullptr;
    }
    return static_cast<T*>(data);
  }

  uint8_t* Bytes(size_t* length) { return Array<uint8_t>(napi_uint8_array, length); }
  float* Floats(size_t* length) { return Array<float>(napi_float32_array, length); }

  double* Doubles(size_t expected) {
    size_t length = 0;
    double* data = Array<double>(napi_float64_array, &length);
    Require(length >= expected, "a Float64Array that is too short");
    return data;
  }

  int32_t Integer() {
    int32_t value = 0;
    if (ok_ && napi_get_value_int32(env_, values_[next_++], &value) != napi_ok) Fail("not an integer");
    return value;
  }

  bool Boolean() {
    bool value = false;
    if (ok_ && napi_get_value_bool(env_, values_[next_++], &value) != napi_ok) Fail("not a boolean");
    return value;
  }

  Rect Rectangle() {
    Rect rect;
    rect.left = Integer();
    rect.top = Integer();
    rect.width = Integer();
    rect.height = Integer();
    Require(rect.left >= 0 && rect.top >= 0 && rect.width > 0 && rect.height > 0, "an empty or negative rectangle");
    return rect;
  }

 private:
  void Fail(const char* what) {
    if (ok_) napi_throw_range_error(env_, nullptr, what);
    ok_ = false;
  }

  napi_env env_;
  size_t count_;
  napi_value values_[kMostArguments];
  size_t next_ = 0;
  bool ok_ = true;
};

// Divides instead of multiplying: a product of what a caller claims could wrap around and seem to fit.
bool Fits(size_t length, int64_t a, int64_t b, int64_t c) {
  if (a < 0 || b < 0 || c < 0) return false;
  if (a == 0 || b == 0 || c == 0) return true;
  return static_cast<uint64_t>(a) <= length / static_cast<uint64_t>(b) / static_cast<uint64_t>(c);
}

napi_value ResizeToPlanar(napi_env env, napi_callback_info info) {
  Arguments in(env, info, 16);
  size_t source_length = 0, out_length = 0;
  const uint8_t* source = in.Bytes(&source_length);
  const int32_t source_width = in.Integer();
  const Rect from = in.Rectangle();
  float* out = in.Floats(&out_length);
  const int32_t out_width = in.Integer(), out_height = in.Integer();
  const Rect to = in.Rectangle();
  const bool swap = in.Boolean();
  const double* mean = in.Doubles(3);
  const double* scale = in.Doubles(3);
  if (!in.ok()) return nullptr;
  in.Require(static_cast<int64_t>(from.left) + from.width <= source_width &&
                 Fits(source_length, source_width, static_cast<int64_t>(from.top) + from.height, 3),
             "the source rectangle leaves the image");
  in.Require(static_cast<int64_t>(to.left) + to.width <= out_width &&
                 static_cast<int64_t>(to.top) + to.height <= out_height && Fits(out_length, out_width, out_height, 3),
             "the target rectangle leaves the tensor");
  if (in.ok()) countersign::ResizeToPlanar(source, source_width, from, out, out_width, out_height, to, {swap, mean, scale});
  return nullptr;
}

napi_value WarpToPlanar(napi_env env, napi_callback_info info) {
  Arguments in(env, info, 10);
  size_t source_length = 0, out_length = 0;
  const uint8_t* source = in.Bytes(&source_length);
  const int32_t width = in.Integer(), height = in.Integer();
  const double* transform = in.Doubles(4);
  float* out = in.Floats(&out_length);
  const int32_t out_width = in.Integer(), out_height = in.Integer();
  const bool swap = in.Boolean();
  const double* mean = in.Doubles(3);
  const double* scale = in.Doubles(3);
  if (!in.ok()) return nullptr;
  in.Require(width > 0 && height > 0 && Fits(source_length, width, height, 3), "the image is smaller than it claims");
  in.Require(Fits(out_length, out_width, out_height, 3), "the tensor is smaller than it claims");
  for (int i = 0; i < 4; i++) in.Require(std::isfinite(transform[i]), "a transform that is not finite");
  if (in.ok()) countersign::WarpToPlanar(source, width, height, transform, out, out_width, out_height, {swap, mean, scale});
  return nullptr;
}

napi_value HalveSize(napi_env env, napi_callback_info info) {
  Arguments in(env, info, 4);
  size_t source_length = 0, out_length = 0;
  const uint8_t* source = in.Bytes(&source_length);
  const int32_t width = in.Integer(), height = in.Integer();
  uint8_t* out = in.Bytes(&out_length);
  if (!in.ok()) return nullptr;
  in.Require(Fits(source_length, width, height, 3) && Fits(out_length, width >> 1, height >> 1, 3),
             "an image is smaller than it claims");
  if (in.ok()) countersign::HalveSize(source, width, height, out);
  return nullptr;
}

napi_value MirrorPlanar(napi_env env, napi_callback_info info) {
  Arguments in(env, info, 3);
  size_t source_length = 0, out_length = 0;
  const float* source = in.Floats(&source_length);
  float* out = in.Floats(&out_length);
  const int32_t width = in.Integer();
  if (!in.ok()) return nullptr;
  in.Require(width > 0 && source_length % width == 0 && out_length >= source_length, "rows that do not fit");
  if (in.ok()) countersign::MirrorPlanar(source, out, width, source_length / width);
  return nullptr;
}

napi_value DotMany(napi_env env, napi_callback_info info) {
  Arguments in(env, info, 3);
  size_t length = 0, rows_length = 0, count = 0;
  const float* query = in.Floats(&length);
  const float* rows = in.Floats(&rows_length);
  float* out = in.Floats(&count);
  if (!in.ok()) return nullptr;
  in.Require(length > 0 && rows_length == count * length, "rows that do not fit");
  if (in.ok()) countersign::DotMany(query, rows, count, length, out);
  return nullptr;
}

napi_value DecodeBase64(napi_env env, napi_callback_info info) {
  Arguments in(env, info, 2);
  size_t length = 0, out_length = 0;
  const uint8_t* text = in.Bytes(&length);
  uint8_t* out = in.Bytes(&out_length);
  if (!in.ok()) return nullptr;
  size_t needed = length / 4 * 3;
  if (needed > 0) needed -= (text[length - 1] == '=') + (text[length - 1] == '=' && text[length - 2] == '=');
  in.Require(out_length >= needed, "an output that is too short");
  if (!in.ok()) return nullptr;
  napi_value result;
  napi_create_int64(env, countersign::DecodeBase64(text, length, out), &result);
  return result;
}

napi_value ReleaseMemory(napi_env env, napi_callback_info info) {
  size_t count = 1, length = 0, whole = 0;
  napi_value view, buffer;
  napi_typedarray_type type;
  // Memory that others have views of as well, such as Node's pool of small buffers, is not the caller's to release.
  if (napi_get_cb_info(env, info, &count, &view, nullptr, nullptr) != napi_ok || count < 1 ||
      napi_get_typedarray_info(env, view, &type, &length, nullptr, &buffer, nullptr) != napi_ok ||
      type != napi_uint8_array || napi_get_arraybuffer_info(env, buffer, nullptr, &whole) != napi_ok ||
      length != whole || napi_detach_arraybuffer(env, buffer) != napi_ok)
    napi_throw_range_error(env, nullptr, "not bytes with a memory of their own");
  return nullptr;
}

// malloc gives back by itself what lies free at the end of an arena, and nothing of what lies free in between.
napi_value ReleaseFreePages(napi_env, napi_callback_info) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return nullptr;
}

void Export(napi_env env, napi_value exports, const char* name, napi_callback callback) {
  napi_value function;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
  napi_set_named_property(env, exports, name, function);
}

}  // namespace

NAPI_MODULE_INIT() {
  Export(env, exports, "resizeToPlanar", ResizeToPlanar);
  Export(env, exports, "warpToPlanar", WarpToPlanar);
  Export(env, exports, "halveSize", HalveSize);
  Export(env, exports, "mirrorPlanar", MirrorPlanar);
  Export(env, exports, "dotMany", DotMany);
  Export(env, exports, "decodeBase64", DecodeBase64);
  Export(env, exports, "releaseMemory", ReleaseMemory);
  Export(env, exports, "releaseFreePages", ReleaseFreePages);
  return exports;
}
