/** `countersign evaluate-pad`: error rates of presentation attack detection on the operator's own presentations. */
import type { Command } from 'commander'
import { declare, TOLD } from '../lib/command.js'
import { progressBar } from '../lib/progress.js'
import { readInput } from '../lib/read-input.js'
import { prepareEngine } from './measuring.js'

export function registerEvaluatePadCommand(command: Command): void {
  declare(command, '<labels>', {
    options: {
      '--pack <pack>': 'name or folder of the pack to measure (default: the configured one)',
      '--report <file...>': 'write a report; the format follows from the ending: .html, .md or .json',
    },
    json: 'print only the line of JSON',
    async answer({ labels: file, pack, report = [] }) {
      const { assertReportFormat } = await import('../../../tools/evaluation/report.js')
      const { writePadReport } = await import('../../../tools/evaluation/pad-report.js')
      const { evaluatePad } = await import('../../../tools/evaluation/pad-evaluation.js')
      const { padText, padView } = await import('./pad-view.js')
      // Report wrong options before the pictures are measured.
      for (const one of report) assertReportFormat(one)
      const text = (await readInput(file)).toString('utf8')
      const { config, settings } = await prepareEngine(pack)
      const progress = progressBar('Evaluating')
      const order = { text, file, engine: settings, fmr: config.fmr, onProgress: progress.update }
      const evaluation = await evaluatePad(order).finally(() => progress.stop())
      for (const one of report) await writePadReport(one, evaluation)
      const view = padView(evaluation)
      return { view, text: `${padText(evaluation)}\n\n${JSON.stringify(view)}` }
    },
    ...TOLD,
  })
}
