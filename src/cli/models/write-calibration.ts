/** Writes a new calibration of a pack, with what earlier ones found about groups of people. */
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CALIBRATION_JSON,
  type Calibration,
  calibrationText,
  usableCalibration,
  withFormerFindings,
} from '../../../models/pack/calibration.js'
import { nameOf } from '../../../models/pack/group-fault.js'
import { loadPackManifest } from '../../../models/pack/model-pack.js'
import { CONSEQUENCE, gradeOf, isProductionGrade, summarizeGrade } from '../../../models/pack/pack-grade.js'
import { shippedFor } from '../../../tools/pack-builders/calibration/shipped.js'
import type { Field } from '../lib/style.js'

export type CalibrationChange = Awaited<ReturnType<typeof changeOf>>

/** Adds to a calibration what the installed one and the one of the makers found about groups that it did not measure. */
export async function changeOf(dir: string, measured: Calibration, fmr: number) {
  const manifest = await loadPackManifest(dir)
  const installed = await usableCalibration(dir, manifest)
  const shipped = shippedFor(manifest)
  const formers = [installed, shipped].filter((one) => one !== null)
  const calibration = formers.reduce(withFormerFindings, measured)
  const pack = { dir, manifest, modelId: `${manifest.id}@${manifest.version}` }
  const former = formers[0]
  return {
    /** The new calibration, with the groups that it did not measure itself. */
    calibration,
    /** The pack with the calibration that was in force; with the one of its makers where it had none. */
    before: { ...pack, ...(former ? { calibration: former } : {}) },
    after: { ...pack, calibration },
    /** False match rate of the configuration. */
    fmr,
  }
}

/** Replaces the calibration of the pack in a folder in one step. @returns path of the file */
export async function applyCalibration(dir: string, { calibration }: CalibrationChange): Promise<string> {
  const file = join(dir, CALIBRATION_JSON)
  await writeCalibration(file, calibration)
  return file
}

/** Replaces the file in one step: a reader finds the old thresholds or the new ones. */
export async function writeCalibration(file: string, calibration: Calibration): Promise<void> {
  const { moveIntoPlace } = await import('../../lib/durable-file.js')
  const partial = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(partial, calibrationText(calibration), { flag: 'wx' })
    moveIntoPlace(partial, file)
  } finally {
    await rm(partial, { force: true })
  }
}

export function gradeChange({ before, after, fmr }: CalibrationChange) {
  return { fmr, before: gradeOf(before, fmr).grade, after: gradeOf(after, fmr).grade }
}

/** The grade before and after, and whom the new calibration did not measure. */
export function gradeFields({ calibration, before, after, fmr }: CalibrationChange): Field[] {
  const carried = calibration.groups.filter((group) => group.carried_from !== undefined)
  return [
    ['Grade before', summarizeGrade(before, fmr)],
    ['Grade now', summarizeGrade(after, fmr)],
    ...(carried.length > 0
      ? [
          [
            'Not measured now',
            `${carried.map((group) => `${nameOf(group)} (${group.carried_from})`).join(', ')}: what an earlier calibration found of them stays until one measures them (--groups)`,
          ] satisfies Field,
        ]
      : []),
    ...(isProductionGrade(after, fmr) ? [] : [['For callers', CONSEQUENCE] satisfies Field]),
  ]
}
