/** The lines that a command prints after its error: the next step, and the page that says more. */
import { docPath } from '../../src/lib/doc-path.js'
import { OPERATOR_ERRORS, type OperatorErrorCode } from '../../src/lib/operator-errors.js'

/** The fields next to code and message in the error of `--json`. */
export function adviceOn(code: string): { remedy: string; doc: string } {
  const { remedy, page } = OPERATOR_ERRORS[code as OperatorErrorCode]
  return { remedy, doc: docPath(page) }
}

/** The lines for people. */
export function adviceText(code: OperatorErrorCode): string {
  const { remedy, doc } = adviceOn(code)
  return `What to do: ${remedy}\nMore about it: ${doc}\n`
}
