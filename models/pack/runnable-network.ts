/** Refuses a network that the installed ONNX Runtime cannot run, or would run with results that mean nothing. */

import { ModelPackError } from './model-pack-error.js'
import { type OnnxSummary, summarizeOnnx } from './onnx-reader.js'

/** Newest versions that the installed ONNX Runtime, 1.30, loads. */
const MAX_OPSET = 26
const MAX_IR_VERSION = 13
/** The oldest opset whose operators all have today's meaning for the networks of packs. */
const OPSET_TO_EXPORT = 17

/** Element types by their number in onnx.proto. */
const ELEMENT_TYPES: Record<number, string> = {
  ...{ 1: 'float32', 2: 'uint8', 3: 'int8', 4: 'uint16', 5: 'int16', 6: 'int32', 7: 'int64', 8: 'string' },
  ...{ 9: 'bool', 10: 'float16', 11: 'float64', 12: 'uint32', 13: 'uint64', 16: 'bfloat16' },
}
const FLOAT32 = 1

/**
 * Domains of nodes that ONNX Runtime writes for the processor or accelerator on which it optimised a graph: on another one they
 * run without an error and compute something else.
 */
const DOMAINS_OF_ONE_MACHINE = ['com.microsoft.nchwc', 'com.ms.internal.nhwc']

/**
 * @param path of the file, for the message
 * @throws ModelPackError network_unusable
 */
export function assertRunnable(bytes: Uint8Array, path: string): void {
  const fault = faultOf(bytes)
  if (fault !== null) throw new ModelPackError('network_unusable', `${path} ${fault}`)
}

/** Returns what is wrong, as a sentence without its subject, or null. */
function faultOf(bytes: Uint8Array): string | null {
  let summary: OnnxSummary
  try {
    summary = summarizeOnnx(bytes)
  } catch (error) {
    return `is no ONNX file: ${(error as Error).message}.`
  }
  const { irVersion, opset, border, domains } = summary
  if (opset > MAX_OPSET || irVersion > MAX_IR_VERSION)
    return (
      `was made for opset ${opset} and IR version ${irVersion}; this version of Countersign runs up to opset ${MAX_OPSET} and ` +
      `IR version ${MAX_IR_VERSION}. Export it again with opset ${OPSET_TO_EXPORT} to ${MAX_OPSET}.`
    )
  const domain = DOMAINS_OF_ONE_MACHINE.find((name) => domains.has(name))
  if (domain !== undefined)
    return (
      `holds nodes of the domain ${domain}: it was saved with the optimisations of one processor and gives useless results on ` +
      'others. Ship the graph as it was exported, or save it again at the level "extended".'
    )
  const wrong = border.find(({ elementType }) => elementType !== FLOAT32)
  if (wrong !== undefined)
    return (
      `has the ${wrong.side} "${wrong.name}" of type ${nameOf(wrong.elementType)}, and every ${wrong.side} has to be float32. ` +
      `Export it with float32 at its border, or add a Cast to float32 there; inside it may compute in other types.`
    )
  return null
}

function nameOf(elementType: number | null): string {
  return elementType === null ? 'no tensor' : (ELEMENT_TYPES[elementType] ?? `number ${elementType}`)
}
