/** Writes the calibration of an installed pack. */
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import type { Calibration } from '../../../models/pack/calibration.js'

/** Replaces the file in one step: a reader finds the old thresholds or the new ones. */
export async function writeCalibration(file: string, calibration: Calibration): Promise<void> {
  const { moveIntoPlace } = await import('../../lib/durable-file.js')
  const partial = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(partial, `${JSON.stringify(calibration, null, 2)}\n`, { flag: 'wx' })
    moveIntoPlace(partial, file)
  } finally {
    await rm(partial, { force: true })
  }
}
