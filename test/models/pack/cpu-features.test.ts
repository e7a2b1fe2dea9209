import { expect, it } from 'vitest'
import { detectByteDotProducts } from '../../../models/pack/cpu-features.js'

const linux = { platform: 'linux', arch: 'x64' } as const

it.each([
  ['AVX-512 VNNI', 'flags : fpu avx2 avx512f avx512_vnni avx512_bitalg', linux, true],
  ['AVX-VNNI', 'flags : fpu avx2 avx_vnni', linux, true],
  ['an older x86', 'flags : fpu avx2 fma avx512f', linux, false],
  ['an Arm server', 'Features : fp asimd asimddp', { platform: 'linux', arch: 'arm64' } as const, true],
  ['an older Arm', 'Features : fp asimd crc32', { platform: 'linux', arch: 'arm64' } as const, false],
  ['an Arm Mac', '', { platform: 'darwin', arch: 'arm64' } as const, true],
  ['an Intel Mac', '', { platform: 'darwin', arch: 'x64' } as const, false],
  ['Windows', '', { platform: 'win32', arch: 'x64' } as const, false],
])('detects whether %s has 8-bit dot products', (_name, cpuInfo, machine, expected) => {
  expect(detectByteDotProducts(cpuInfo, machine)).toBe(expected)
})
