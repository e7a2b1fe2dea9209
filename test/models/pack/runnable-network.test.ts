import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { InferenceSession } from 'onnxruntime-node'
import { describe, expect, inject, it } from 'vitest'
import { assertRunnable } from '../../../models/pack/runnable-network.js'
import { foreignNode, outputOfType, withOpset } from '../../support/changed-networks.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const folder = temporaryFolder()
const embedder = readFileSync(join(inject('modelsDir'), 'baseline', 'embedder.onnx'))

/** Returns the error's message. */
function refusal(bytes: Uint8Array): string {
  try {
    assertRunnable(bytes, 'a.onnx')
  } catch (error) {
    expect(error).toMatchObject({ code: 'network_unusable' })
    return (error as Error).message
  }
  return 'accepted'
}

describe('the check of a network', () => {
  it('accepts it as it was exported, in 8 bits, and as saved at the level "extended"', async () => {
    expect(refusal(embedder)).toBe('accepted')
    expect(refusal(readFileSync(join(inject('modelsDir'), 'baseline', 'embedder-int8.onnx')))).toBe(
      'accepted',
    )
    const saved = join(folder, 'extended.onnx')
    await InferenceSession.create(new Uint8Array(embedder), {
      graphOptimizationLevel: 'extended',
      optimizedModelFilePath: saved,
    })
    // ONNX Runtime lists the domain among the imports of every graph that it saves: only its nodes count.
    expect(readFileSync(saved, 'latin1')).toContain('com.microsoft.nchwc')
    expect(refusal(readFileSync(saved))).toBe('accepted')
  })

  it.each([
    ['float16', 10],
    ['bfloat16', 16],
    ['float64', 11],
    ['int64', 7],
    ['uint8', 2],
    ['number 99', 99],
  ])('refuses an output of type %s, with file, tensor, type and a way out', (type, number) => {
    expect(refusal(outputOfType(embedder, 'half', number))).toBe(
      `a.onnx has the output "half" of type ${type}, and every output has to be float32. Export it with float32 at its border, or add a Cast to float32 there; inside it may compute in other types.`,
    )
  })

  it('refuses an input of another type, unless a constant gives its value', () => {
    const input = (name: string) =>
      new BinaryWriter()
        .tag(7, WireType.LengthDelimited)
        .fork()
        .tag(11, WireType.LengthDelimited)
        .fork()
        .tag(1, WireType.LengthDelimited)
        .string(name)
        .tag(2, WireType.LengthDelimited)
        .fork()
        .tag(1, WireType.LengthDelimited)
        .fork()
        .tag(1, WireType.Varint)
        .int32(10)
    const constant = (writer: BinaryWriter, name: string) =>
      writer.join().join().join().tag(5, WireType.LengthDelimited).fork().tag(8, 2).string(name).join().join()
    const free = input('scale').join().join().join().join().finish()
    expect(refusal(Buffer.concat([embedder, free]))).toContain('has the input "scale" of type float16')
    const given = constant(input('scale'), 'scale').finish()
    expect(refusal(Buffer.concat([embedder, given]))).toBe('accepted')
  })

  it.each(['com.microsoft.nchwc', 'com.ms.internal.nhwc'])(
    'refuses nodes of the domain %s, in a nested graph too',
    (domain) => {
      const message = `a.onnx holds nodes of the domain ${domain}: it was saved with the optimisations of one processor and gives useless results on others. Ship the graph as it was exported, or save it again at the level "extended".`
      expect(refusal(foreignNode(embedder, domain))).toBe(message)
      expect(refusal(foreignNode(embedder, domain, 'nested'))).toBe(message)
    },
  )

  it('refuses a newer opset or IR version, and names the newest that run', async () => {
    const message =
      'this version of Countersign runs up to opset 26 and IR version 13. Export it again with opset 17 to 26.'
    expect(refusal(withOpset(27, 13))).toBe(`a.onnx was made for opset 27 and IR version 13; ${message}`)
    expect(refusal(withOpset(26, 14))).toBe(`a.onnx was made for opset 26 and IR version 14; ${message}`)
    expect(refusal(withOpset(26, 13))).toBe('accepted')
  })

  it('accepts exactly the versions that the installed ONNX Runtime loads', async () => {
    await expect(InferenceSession.create(withOpset(26, 13))).resolves.toBeDefined()
    const quietly = { logSeverityLevel: 4 } as const
    await expect(InferenceSession.create(withOpset(27, 13), quietly)).rejects.toThrow(/opset 27/i)
    await expect(InferenceSession.create(withOpset(26, 14), quietly)).rejects.toThrow('IR version: 14')
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('version https://git-lfs.github.com/spec/v1\n')],
    ['zeros', Buffer.alloc(64)],
  ])('refuses %s, which is no ONNX file', (_, bytes) => {
    expect(refusal(bytes)).toMatch(/^a\.onnx is no ONNX file: /)
  })

  it('refuses a file that was cut off', () => {
    for (const share of [0.1, 0.5, 0.99])
      expect(refusal(embedder.subarray(0, Math.floor(share * embedder.length)))).toMatch(/is no ONNX file/)
  })
})
