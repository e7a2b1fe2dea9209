/** Which execution providers are accelerators. Importing this file loads no ONNX Runtime. */

/**
 * Provider that stands in for an accelerator: the processor, behind the lane that every accelerator has. With it the
 * lane can be tried and measured on a machine without one.
 */
export const STAND_IN_PROVIDER = 'cpu-lane'

/** The accelerators among the providers, in order of preference: those before `cpu`. */
export function acceleratorsOf(providers: readonly string[]): string[] {
  const end = providers.indexOf('cpu')
  return [...new Set(end < 0 ? providers : providers.slice(0, end))]
}
