/** The text that a person is shown for a typed action: it is exactly the action, in each language, and one digit changes its hash. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayHash } from '../../clients/node/display-hash.js'
import { paymentBatch } from '../../clients/node/make-action.js'
import { actionHash } from '../../src/contract/action-hash.js'
import {
  canonicalDisplay,
  DISPLAY_VERSION,
  displayAction,
} from '../../src/contract/actions/display-action.js'
import { displayAmount, displayNumber } from '../../src/contract/actions/display-amount.js'
import { displayTexts } from '../../src/contract/actions/display-texts.js'
import { lookalikes } from '../../src/contract/actions/lookalikes.js'
import { CURRENCIES, minorUnits } from '../../src/contract/actions/money.js'
import { TYPED_ACTION_TYPES } from '../../src/contract/actions/typed-actions.js'
import { canonicalJson } from '../../src/contract/canonical-json.js'
import { DISPLAY_LOCALES, type DisplayLocale } from '../../src/contract/locales.js'
import { check, checkAsync } from '../support/properties.js'
import { amountOf, currencies, payeeLists, payments } from '../support/typed-actions.js'

const locales = fc.constantFrom(...DISPLAY_LOCALES)
const money = currencies.chain((currency) => fc.tuple(fc.constant(currency), amountOf(currency)))

/** The number and the currency that a text shows, read back by the separators of the language as `Intl` has them. */
function readBack(text: string, locale: DisplayLocale): [currency: string, amount: string] {
  const [first = '', second = ''] = text.split('\u00a0')
  const [currency, number] = /^[A-Z]{3}$/.test(first) ? [first, second] : [second, first]
  const parts = new Intl.NumberFormat(locale, { useGrouping: 'always' as never }).formatToParts(1234567.8)
  const separator = (type: string) => parts.find((part) => part.type === type)!.value
  return [currency, number.replaceAll(separator('group'), '').replace(separator('decimal'), '.')]
}

describe('an amount', () => {
  it('shows the same digits and the same currency in each language', () => {
    check(
      fc.property(money, locales, ([currency, amount], locale) => {
        const [shown, digits] = readBack(displayAmount(amount, currency, locale), locale)
        expect([shown, minorUnits(digits, currency)]).toEqual([currency, minorUnits(amount, currency)])
      }),
    )
  })

  it('is written as the CLDR writes it', () => {
    check(
      fc.property(money, locales, ([currency, amount], locale) => {
        const fraction = amount.split('.')[1]?.length ?? 0
        const format = new Intl.NumberFormat(locale, {
          style: 'currency',
          currency,
          currencyDisplay: 'code',
          minimumFractionDigits: fraction,
          maximumFractionDigits: fraction,
        })
        // TypeScript does not know yet that the method takes decimal text, which it does not round.
        expect(displayAmount(amount, currency, locale)).toBe(format.format(amount as never))
      }),
    )
  })

  it('has all digits of its currency also where the action leaves them out', () => {
    expect(DISPLAY_LOCALES.map((locale) => displayAmount('1250', 'EUR', locale))).toEqual([
      'EUR\u00a01,250.00',
      '1.250,00\u00a0EUR',
      '1\u202f250,00\u00a0EUR',
      '1250,00\u00a0EUR',
      'EUR\u00a01,250.00',
    ])
  })

  it('groups a number as the CLDR does', () => {
    check(
      fc.property(fc.nat(99_999_999), locales, (number, locale) => {
        expect(displayNumber(String(number), locale)).toBe(new Intl.NumberFormat(locale).format(number))
      }),
    )
  })
})

describe('a payment', () => {
  it('shows exactly amount, currency, payee and account, in each language', () => {
    check(
      fc.property(payments, locales, (action, locale) => {
        const texts = displayTexts(locale)
        const { heading, lines } = displayAction(action, locale)!
        const [amount, ...others] = lines.map(({ label, value }) => [label, value])
        expect([heading, amount![0]]).toEqual([texts.payment, texts.amount])
        const [currency, digits] = readBack(amount![1]!, locale)
        expect([currency, minorUnits(digits, action.currency)]).toEqual([
          action.currency,
          minorUnits(action.amount, action.currency),
        ])
        expect(others).toEqual([
          [texts.payee, action.payee.name],
          [texts.account, action.payee.account],
          ...(action.reference === undefined ? [] : [[texts.reference, action.reference]]),
        ])
      }),
    )
  })

  it('gets another action_hash and another display_hash with one digit changed', async () => {
    await checkAsync(
      fc.asyncProperty(
        payments,
        locales,
        fc.nat(),
        fc.integer({ min: 1, max: 9 }),
        async (action, locale, at, by) => {
          const changed = { ...action, amount: withOtherDigit(action.amount, at, by) }
          expect(await actionHash(changed)).not.toBe(await actionHash(action))
          const hash = async (one: object) => displayHash(displayAction(one, locale)!)
          expect(await hash(changed)).not.toBe(await hash(action))
          const account = withOtherDigit(action.payee.account, at, by)
          expect(await hash({ ...action, payee: { ...action.payee, account } })).not.toBe(await hash(action))
        },
      ),
    )
  })
})

describe('a batch', () => {
  it('shows its total and every payee of its list, and changes its hash with each', async () => {
    const cases = currencies.chain((currency) => fc.tuple(fc.constant(currency), payeeLists(currency, 20)))
    await checkAsync(
      fc.asyncProperty(cases, locales, fc.nat(), async ([currency, payees], locale, at) => {
        const { action, payees: text } = await paymentBatch({ currency, payees })
        const { lines } = displayAction(action, locale, text)!
        const values = lines.map(({ value }) => value)
        expect(values.slice(0, 2)).toEqual([
          displayAmount(action.total, currency, locale),
          displayNumber(String(payees.length), locale),
        ])
        expect(values.slice(2)).toEqual(
          payees.flatMap(({ name, account, amount, reference }) => [
            name,
            account,
            displayAmount(amount, currency, locale),
            ...(reference === undefined ? [] : [reference]),
          ]),
        )
        const index = at % payees.length
        const other = payees.with(index, { ...payees[index]!, account: `${payees[index]!.account}1` })
        const changed = await paymentBatch({ currency, payees: other })
        expect(await displayHash(displayAction(changed.action, locale, changed.payees)!)).not.toBe(
          await displayHash(displayAction(action, locale, text)!),
        )
      }),
      50,
    )
  })

  it('binds its total and its list where it has 1,000 payees', async () => {
    const payees = Array.from({ length: 1000 }, (_, index) => ({
      name: `P ${index}`,
      account: `A${index}`,
      amount: `${index}.01`,
    }))
    const hashes = async (list: typeof payees) => {
      const { action, payees: text } = await paymentBatch({ currency: 'EUR', payees: list })
      return [await actionHash(action), await displayHash(displayAction(action, 'en', text)!)]
    }
    const [action, display] = await hashes(payees)
    const changes = [
      payees.with(999, { ...payees[999]!, amount: '999.02' }),
      payees.with(500, { ...payees[500]!, account: 'B500' }),
      payees.with(0, payees[1]!).with(1, payees[0]!),
    ]
    for (const changed of changes) {
      const [otherAction, otherDisplay] = await hashes(changed)
      expect([otherAction === action, otherDisplay === display]).toEqual([false, false])
    }
  })
})

describe('a typed action of each kind', () => {
  const ACTIONS: Array<[object, string[]]> = [
    [
      { type: 'account_change', change: 'email', from: 'a@b.example', to: 'c@d.example' },
      ['Änderung an Ihrem Konto', 'Änderung: E-Mail-Adresse', 'Bisher: a@b.example', 'Künftig: c@d.example'],
    ],
    [{ type: 'login' }, ['Anmeldung']],
    [
      { type: 'login', application: 'Netbank', ip: '2001:db8::1', location: 'Lyon' },
      ['Anmeldung', 'Anwendung: Netbank', 'IP-Adresse: 2001:db8::1', 'Ort: Lyon'],
    ],
    [
      { type: 'consent', title: 'AGB', text: 'Erstens.\n\nZweitens.', version: '7' },
      ['Zustimmung', 'Titel: AGB', 'Version: 7', 'Text: Erstens.\n\nZweitens.'],
    ],
    [
      { type: 'generic', title: 'Tresor öffnen', fields: [{ label: 'Tresor', value: '7' }] },
      ['Anderer Vorgang', 'Vorgang: Tresor öffnen', 'Tresor: 7'],
    ],
  ]
  it.each(ACTIONS)('is %j in German', (action, expected) => {
    const { heading, lines } = displayAction(action, 'de')!
    expect([heading, ...lines.map(({ label, value }) => `${label}: ${value}`)]).toEqual(expected)
  })

  it('has a heading of its own in each language', () => {
    for (const locale of DISPLAY_LOCALES) {
      const texts = Object.values(displayTexts(locale))
      expect(texts.filter((text) => text === undefined || text === '')).toEqual([])
      expect(new Set(TYPED_ACTION_TYPES.map((type) => displayTexts(locale)[type])).size).toBe(6)
    }
  })

  it('is not made of an action without a published type', () => {
    expect(['text', { type: 'wire_transfer' }, {}].map((action) => displayAction(action, 'en'))).toEqual([
      null,
      null,
      null,
    ])
  })
})

describe('the template', () => {
  it('has the text of its version: a change of any text needs another DISPLAY_VERSION', async () => {
    const payee = { name: 'Grace Hopper', account: 'DE89370400440532013000' }
    const batch = await paymentBatch({
      currency: 'JPY',
      payees: [{ ...payee, amount: '1250', reference: 'r' }],
      reference: 'all',
    })
    const actions = [
      { type: 'payment', amount: '1250.00', currency: 'EUR', payee, reference: 'r' },
      batch.action,
      ...['email', 'phone', 'password', 'address', 'device', 'limit', 'other'].map((change) => ({
        type: 'account_change',
        change,
        from: 'a',
        to: 'b',
      })),
      { type: 'login', application: 'a', ip: '::1', location: 'b' },
      { type: 'consent', title: 'a', text: 'b', version: 'c' },
      { type: 'generic', title: 'Аpple', fields: [{ label: 'a', value: 'b' }] },
    ]
    const all = DISPLAY_LOCALES.flatMap((locale) =>
      actions.map((action) => displayAction(action, locale, batch.payees)),
    )
    const digest = createHash('sha256').update(canonicalJson(all)).digest('hex')
    expect([DISPLAY_VERSION, digest]).toEqual([
      'countersign-display-2',
      '1e38c2c2210751400e21c62c34a14acb2febb9a5945eb3e54f287007adf458e1',
    ])
  })

  it('is hashed with version, language, heading and lines', async () => {
    const display = displayAction({ type: 'login', application: 'x' }, 'fr')!
    expect(canonicalDisplay(display)).toBe(
      '{"heading":"Connexion","lines":[{"label":"Application","value":"x"}],"locale":"fr","version":"countersign-display-2"}',
    )
  })

  it('knows every currency', () => {
    expect(CURRENCIES.map((currency) => displayAmount('1', currency, 'en').slice(0, 3))).toEqual(CURRENCIES)
  })
})

describe('letters that pass for others', () => {
  it.each([
    ['Grаce', ['а']],
    ['Gοοgle', ['ο']],
    ['Аррlе', ['А', 'р', 'l', 'е']],
    ['сора', ['с', 'о', 'р', 'а']],
    ['Apple сора', ['с', 'о', 'р', 'а']],
    ['𝐆race', ['𝐆']],
    ['paypaⅼ', ['ⅼ']],
    ['pɑypal', ['ɑ']],
    ['Пpивет', ['p']],
    ['Paypaǀ', ['ǀ']],
    ['Lıdl', ['ı']],
    ['Netflıx GmbH', ['ı']],
    ['ꓑꓮꓬꓑꓮꓡ', ['ꓑ', 'ꓮ', 'ꓬ', 'ꓡ']],
    ['Bank ꓮꓡꓓꓲ', ['ꓮ', 'ꓡ', 'ꓓ', 'ꓲ']],
    ['ᏢᎪYᏢᎪᏞ', ['Ꮲ', 'Ꭺ', 'Y', 'Ꮮ']],
    ['ᎪᏞᎠᎡ', ['Ꭺ', 'Ꮮ', 'Ꭰ', 'Ꭱ']],
    ['ⲞⲤⲤⲞ', ['Ⲟ', 'Ⲥ']],
    ['𐐄𐐛𐐛𐐄', ['𐐄', '𐐛']],
    ['C𐐄CA C𐐄LA', ['𐐄']],
    ['ᴘᴀʏᴘᴀʟ', ['ᴘ', 'ᴀ', 'ʏ', 'ʟ']],
    ['ΝΟΚΙΑ', ['Ν', 'Ο', 'Κ', 'Ι', 'Α']],
    ['ΚΟΚΑ', ['Κ', 'Ο', 'Α']],
    ['Νiκe', ['Ν', 'κ']],
    ['ՕՏՕ', ['Օ', 'Տ']],
    ['Gօօgle', ['օ']],
    ['Goოgle', ['ო']],
    ['Goסgle', ['ס']],
    ['G〇〇gle', ['〇']],
    ['Visa ৪', ['৪']],
    ['Pay𝟒U', ['𝟒']],
    ['ｱP℮', ['℮']],
    ['ⅬⅠⅮⅬ', ['Ⅼ', 'Ⅰ', 'Ⅾ']],
    ['ᛕᛁ', ['ᛕ', 'ᛁ']],
    ['𐊫𐊢', ['𐊫', '𐊢']],
    ['ⵔⵝⵏ', ['ⵔ', 'ⵝ', 'ⵏ']],
    ['ᗷᗞ', ['ᗷ', 'ᗞ']],
  ])('are found in %s', (text, letters) => {
    expect(lookalikes(text)).toEqual(letters)
  })

  it.each([
    ...['Grace Hopper', 'Müller & Söhne, Weiß GmbH', 'Магазин Сара', 'Мария Ивановна Кузнецова'],
    ...['Олексій Їжакевич', 'Ђорђе Петровић, Београд', 'Ελληνική Τράπεζα', 'Γιώργος Παπαδόπουλος'],
    ...['株式会社 ＡＢＣ', 'ｶﾌﾞｼｷｶﾞｲｼﾔ', 'NTTドコモ 第Ⅲ工場', '山田 太郎のTシャツ'],
    ...['ロ口ニ二 エ工', '삼성전자 LG전자', '中国银行二〇二六', 'دار الكتب'],
    ...['محمد ٢٠٢٦', 'בנק לאומי ו-Google', 'ธนาคารกรุงเทพ KBank', 'শ্রী রহিম ১৪'],
    ...['श्री कुमार', 'Գրիգոր Սարգսյան', 'გიორგი', 'አበበ'],
    ...['ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ', 'Банк Apple', "O’Neil 3rd, O'Brien", 'Nguyễn Thị Ánh Đào'],
    ...[
      'Zażółć gęślą jaźń Łódź',
      'Åse Ærø Øystein Þór Ð',
      'Cœur de Lœuvre, nº 5, 1ª, 25 m²',
      'Čapek Ďuriš Ľubomír Šťastný',
    ],
    ...['Șerban Țiriac', 'Ṣọlá Adébáyọ̀, Ɗangote, Akɔsua', 'Ayşe Yıldırım', 'Kılıç Ltd. Şti.'],
    ...['Əliyev Kazım', '10 000 ₽, 4×4', '👩‍💻 Ada'],
  ])('are not found in %s', (text) => {
    expect(lookalikes(text)).toEqual([])
  })

  it('are found in a dotless i, unless another letter shows that the text is Turkish', () => {
    expect([lookalikes('Vısa'), lookalikes('Vısa Ödeme')]).toEqual([['ı'], []])
  })

  it('are named below the line that holds them, by character and number', () => {
    const payee = { name: 'Grаce', account: 'DE89' }
    const { lines } = displayAction({ type: 'payment', amount: '1', currency: 'EUR', payee }, 'en')!
    expect(lines[1]).toEqual({
      label: 'Payee',
      value: 'Grаce',
      note: 'Careful: these letters look like others, and are from another alphabet: а (U+0430)',
    })
  })
})

/** Replaces one digit of a text, so that the number is another. */
function withOtherDigit(text: string, at: number, by: number): string {
  const digits = [...text].flatMap((character, index) => (/\d/.test(character) ? [index] : []))
  const index = digits[at % digits.length]!
  return text.slice(0, index) + ((Number(text[index]) + by) % 10) + text.slice(index + 1)
}
