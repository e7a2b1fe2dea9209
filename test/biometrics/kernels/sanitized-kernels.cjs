/** Loaded first, puts the addon that `SANITIZED_KERNELS` names in the place of the one that was built, and says so. */
const Module = require('node:module')

const resolve = Module._resolveFilename
Module._resolveFilename = function (request, ...rest) {
  if (request !== '#native-kernels') return resolve.call(this, request, ...rest)
  process.stderr.write('sanitized kernels in use\n')
  return process.env.SANITIZED_KERNELS
}
