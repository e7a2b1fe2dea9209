/** Detects processor features that decide which graph of a network runs. */
import { readFileSync } from 'node:fs'

/** Instructions that multiply and add bytes: AVX-512 VNNI and AVX-VNNI of x86, the dot product extension of Arm. */
const BYTE_DOT_PRODUCTS = /\b(?:avx512_vnni|avx_vnni|asimddp)\b/

/**
 * Returns whether 8-bit networks are worthwhile. Without such instructions ONNX Runtime either lets products saturate
 * or takes about as long as for float32.
 */
export const hasByteDotProducts = detectByteDotProducts()

/**
 * @param cpuInfo content of /proc/cpuinfo on Linux; elsewhere only Arm Macs are known to have the instructions, all
 * of them
 */
export function detectByteDotProducts(
  cpuInfo = readCpuInfo(),
  { platform, arch }: Pick<NodeJS.Process, 'platform' | 'arch'> = process,
): boolean {
  if (platform === 'darwin') return arch === 'arm64'
  return BYTE_DOT_PRODUCTS.test(cpuInfo)
}

function readCpuInfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8')
  } catch {
    return ''
  }
}
