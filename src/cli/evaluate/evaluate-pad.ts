/** `countersign evaluate-pad`: error rates of presentation attack detection on the operator's own presentations. */
import type { Command } from 'commander'
import { action, type OutputOptions } from '../lib/output.js'
import { progressBar } from '../lib/progress.js'
import { readInput } from '../lib/read-input.js'
import { prepareEngine } from './measuring.js'

interface EvaluatePadOptions extends OutputOptions {
  pack?: string
  report?: string[]
}

export function registerEvaluatePadCommand(command: Command): void {
  command
    .option('--pack <pack>', 'name or folder of the pack to measure (default: the configured one)')
    .option('--report <file...>', 'write a report; the format follows from the ending: .html, .md or .json')
    .option('--json', 'print only the line of JSON')
    .action(
      action(async (file: string, options: EvaluatePadOptions) => {
        const { assertReportFormat } = await import('../../../tools/evaluation/report.js')
        const { writePadReport } = await import('../../../tools/evaluation/pad-report.js')
        const { evaluatePad } = await import('../../../tools/evaluation/pad-evaluation.js')
        const { padText, padView } = await import('./pad-view.js')
        // Report wrong options before the pictures are measured.
        for (const report of options.report ?? []) assertReportFormat(report)
        const text = (await readInput(file)).toString('utf8')
        const { config, settings } = await prepareEngine(options.pack)
        const progress = progressBar('Evaluating')
        const onProgress = progress.update
        const order = { text, file, engine: settings, fmr: config.fmr, onProgress }
        const evaluation = await evaluatePad(order).finally(() => progress.stop())
        for (const report of options.report ?? []) await writePadReport(report, evaluation)
        if (!options.json) process.stdout.write(`${padText(evaluation)}\n\n`)
        process.stdout.write(`${JSON.stringify(padView(evaluation))}\n`)
      }),
    )
}
