import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { baselinePackDocument } from '../../../tools/pack-builders/baseline/pack-document.js'
import { NETWORK_PINS } from '../../../tools/pack-builders/baseline/pins.js'
import { buildPack } from '../../../tools/pack-builders/build/build-pack.js'
import { shippedCalibration } from '../../../tools/pack-builders/calibration/shipped.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

let outDir: string
beforeEach(() => {
  outDir = temporaryFolder()
  cpSync(join(inject('modelsDir'), 'baseline'), outDir, { recursive: true })
})

const shipped = shippedCalibration('baseline')
const calibrationInPlace = () => JSON.parse(readFileSync(join(outDir, 'calibration.json'), 'utf8'))
const putCalibration = (calibration: object) =>
  writeFileSync(join(outDir, 'calibration.json'), JSON.stringify(calibration))

/** Builds the baseline again. @returns the networks that were made for it */
async function build(): Promise<string[]> {
  const made: string[] = []
  await buildPack({
    outDir,
    document: baselinePackDocument(),
    calibration: shipped,
    networks: Object.entries(NETWORK_PINS).map(([file, pin]) => ({
      file,
      pin,
      build: async () => {
        made.push(file)
        return readFileSync(join(inject('modelsDir'), 'baseline', file))
      },
    })),
  })
  return made
}

describe('a pack that is built again', () => {
  it('takes the calibration of the new pack instead of an older one that came with the pack', async () => {
    putCalibration({ ...shipped, date: '2026-01-01' })
    expect(await build()).toEqual([])
    expect(calibrationInPlace()).toEqual(shipped)
  })

  it('takes the calibration of the new pack instead of one that was measured with other networks', async () => {
    putCalibration({ ...shipped, pack: { ...shipped.pack, sha256: '0'.repeat(64) } })
    await build()
    expect(calibrationInPlace()).toEqual(shipped)
  })

  it("keeps the operator's own calibration", async () => {
    const { origin: _, ...own } = { ...shipped, date: '2026-01-01' }
    putCalibration(own)
    await build()
    expect(calibrationInPlace()).toEqual(own)
    // The same holds if another file has to be repaired.
    rmSync(join(outDir, 'pack.json'))
    await build()
    expect(calibrationInPlace()).toEqual(own)
  })

  it("carries on what the pack's makers found about groups that the operator has not measured", async () => {
    const { origin: _, ...own } = { ...shipped, date: '2026-01-01', groups: [] }
    putCalibration(own)
    rmSync(join(outDir, 'pack.json'))
    await build()
    const groups = shipped.groups.map((group) => ({ ...group, carried_from: shipped.date }))
    expect(calibrationInPlace()).toEqual({ ...own, groups })
  })

  it('adds a calibration to a pack that has none', async () => {
    rmSync(join(outDir, 'calibration.json'))
    await build()
    expect(calibrationInPlace()).toEqual(shipped)
  })

  it('makes only the networks that are missing or damaged', async () => {
    writeFileSync(join(outDir, 'landmarks.onnx'), 'spoilt')
    expect(await build()).toEqual(['landmarks.onnx'])
    const whole = readFileSync(join(inject('modelsDir'), 'baseline', 'landmarks.onnx'))
    // `toEqual` would compare a million bytes one by one, for seconds.
    expect(whole.equals(readFileSync(join(outDir, 'landmarks.onnx')))).toBe(true)
  })
})
