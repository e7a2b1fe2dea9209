/** Checks which execution providers load and compute on this machine. */
import { OnnxGraph } from '../../../tools/pack-builders/onnx/onnx-writer.js'
import { type Addon, tryAddons } from './addon-trial.js'

/**
 * Has each provider compute a small graph, in another process.
 * @returns the first line of the error of each provider that cannot, by its name
 */
export async function tryProviders(providers: readonly string[]): Promise<Map<string, string>> {
  if (providers.length === 0) return new Map()
  const failures = await tryAddons(providers.map(trialOf))
  return new Map([...failures].map(([name, reason]) => [name, reason.split('\n', 1)[0]!]))
}

function trialOf(provider: string): Addon {
  const graph = new OnnxGraph('trial', 'Computes max(x, 0).')
  const input = graph.input('x', [1, 4])
  graph.output(graph.node('Relu', [input], 'y'), [1, 4])
  const file = Buffer.from(graph.encode()).toString('base64')
  const options = JSON.stringify({ executionProviders: [provider], logSeverityLevel: 4 })
  return {
    name: provider,
    trial: `const { env, InferenceSession, Tensor } = await import('onnxruntime-node')
      env.logLevel = 'fatal'
      const session = await InferenceSession.create(Buffer.from('${file}', 'base64'), ${options})
      const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(-1, 0, 1, 2), [1, 4]) })
      if (String(y.data) !== '0,0,1,2') throw new Error('it computes wrong numbers')`,
  }
}
