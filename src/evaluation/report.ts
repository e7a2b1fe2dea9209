import { writeFile } from 'node:fs/promises'
import type { EvaluationRun } from './run-evaluation.js'
export async function writeReport(file: string, run: EvaluationRun, _p: boolean): Promise<void> {
  await writeFile(file, JSON.stringify(run.evaluation))
}
