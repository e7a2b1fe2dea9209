/** Texts that people read: nothing invisible, nothing that changes the order of what is read, and every language as it is written. */
import { describe, expect, it } from 'vitest'
import {
  isPlainIdentifier,
  isReadableLine,
  isReadableText,
} from '../../src/contract/actions/readable-text.js'

const INVISIBLE = {
  'a right-to-left override': '\u202e',
  'a left-to-right embedding': '\u202a',
  'a first strong isolate': '\u2068',
  'an Arabic letter mark': '\u061c',
  'a right-to-left mark': '\u200f',
  'a zero-width space': '\u200b',
  'a soft hyphen': '\u00ad',
  'a word joiner': '\u2060',
  'a byte order mark': '\ufeff',
  'a Hangul filler': '\u3164',
  'a combining grapheme joiner': '\u034f',
  'a tag character': '\u{e0041}',
  'a line separator': '\u2028',
  'a private-use character': '\ue000',
  'a noncharacter': '\uffff',
  'a lone surrogate': '\ud800',
  'a NUL': '\0',
  'an escape': '\u001b',
  'a zero-width joiner between Latin letters': '\u200d',
  'a zero-width non-joiner between Latin letters': '\u200c',
  'a variation selector of no emoji': '\ufe0f',
}

describe('a text that a person reads', () => {
  it.each(Object.entries(INVISIBLE))('cannot hold %s', (_, character) => {
    const text = `Pay${character}Grace`
    expect([isReadableLine(text), isReadableText(text), isPlainIdentifier(text)]).toEqual([
      false,
      false,
      false,
    ])
  })

  it.each([
    ['German', 'Überweisung von 1.250,00 € an Grace Höpper'],
    ['Persian, with a non-joiner', 'می\u200cخواهم ۱۲۵۰ ریال به گریس بپردازم'],
    ['Arabic, with vowels', 'تَحْوِيل إِلَى سَارَة'],
    ['Hebrew, with numbers', 'העברה של 1250.00 לשרה'],
    ['Sinhala, with a joiner', 'ශ්\u200dරී ලංකා'],
    ['Hindi, with a joiner', 'क्\u200dष'],
    ['Japanese, with a variant', '葛\u{e0100}城市へ 1250 円'],
    ['emoji of one and several parts', '❤️ 👩‍💻 👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ 👍🏽'],
  ])('may be %s', (_, text) => {
    expect(isReadableLine(text)).toBe(true)
  })

  it('has several lines only where it may have paragraphs', () => {
    expect([isReadableLine('One\nTwo'), isReadableText('One\r\n\n\tTwo')]).toEqual([false, true])
  })

  it('is, as an identifier, without joiners and emoji sequences', () => {
    expect(['می\u200cخواهم', '👩‍💻', '❤️'].map(isPlainIdentifier)).toEqual([false, false, false])
    expect(['user-4711', 'ada@example.org', 'José', '山田 太郎', 'علي', '👩'].map(isPlainIdentifier)).toEqual(
      Array(6).fill(true),
    )
  })
})
