/** Generators of valid typed actions, for tests of properties. */
import fc from 'fast-check'
import type { BatchPayee } from '../../clients/node/types.js'
import { CURRENCIES, decimalText } from '../../src/contract/actions/money.js'
import type { PaymentAction } from '../../src/contract/actions/typed-actions.js'

const WORDS = [
  'Grace',
  'Hopper',
  'Ōe',
  'Müller',
  'دار',
  'الكتب',
  'יעל',
  '株式会社',
  '山田',
  'Nguyễn',
  'O’Neil',
  '<b>',
  '&amp;',
  '1,250.00',
  'EUR',
]

export const names = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 })
  .map((words) => words.join(' '))
export const accounts = fc.stringMatching(/^[A-Z]{2}[0-9]{2}[A-Z0-9]{4,30}$/)
export const currencies = fc.constantFrom(...CURRENCIES)
const units = fc.oneof(fc.bigInt(0n, 10_000_000n), fc.bigInt(0n, 10n ** 15n - 1n))
/** An amount of at least one unit and less than 10^15. */
export const amountOf = (currency: string) => units.map((number) => decimalText(number, currency))

export const payments: fc.Arbitrary<PaymentAction> = currencies.chain((currency) =>
  fc.record(
    {
      type: fc.constant('payment' as const),
      amount: amountOf(currency),
      currency: fc.constant(currency),
      payee: fc.record({ name: names, account: accounts }),
      reference: names,
    },
    { requiredKeys: ['type', 'amount', 'currency', 'payee'] },
  ),
)

export const payeeLists = (currency: string, maxLength: number): fc.Arbitrary<BatchPayee[]> =>
  fc.array(
    fc.record(
      {
        name: names,
        account: accounts,
        amount: fc.bigInt(0n, 10_000_000n).map((number) => decimalText(number, currency)),
        reference: names,
      },
      { requiredKeys: ['name', 'account', 'amount'] },
    ),
    { minLength: 1, maxLength },
  )
