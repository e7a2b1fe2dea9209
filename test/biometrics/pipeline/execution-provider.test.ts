import { expect, it } from 'vitest'
import { withFirstWorkingProvider } from '../../../src/biometrics/pipeline/networks/execution-provider.js'

const working = (names: string[]) => async (provider: string) => {
  if (!names.includes(provider)) throw new Error(`no ${provider} here\nand more`)
  return provider.toUpperCase()
}

it('the first provider that works is taken, and every fallback keeps its reason', async () => {
  const { value, status } = await withFirstWorkingProvider(
    ['tensorrt', 'cuda', 'cpu'],
    working(['cuda', 'cpu']),
  )
  expect(value).toBe('CUDA')
  expect(status).toEqual({
    active: 'cuda',
    fallbacks: [{ provider: 'tensorrt', reason: 'no tensorrt here' }],
  })
})

it('cpu is the last resort even if it is not named, and its failure is thrown', async () => {
  const { status } = await withFirstWorkingProvider(['cuda'], working(['cpu']))
  expect(status).toMatchObject({ active: 'cpu', fallbacks: [{ provider: 'cuda' }] })
  await expect(withFirstWorkingProvider(['cuda'], working([]))).rejects.toThrow('no cpu here')
})
