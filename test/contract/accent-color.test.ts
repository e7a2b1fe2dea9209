/** The color of a tenant stays readable in both themes of the capture page. */
import { describe, expect, it } from 'vitest'
import { contrast, themeColors } from '../../src/contract/accent-color.js'

const PAPERS = { light: '#ffffff', dark: '#1f2023' } as const

describe('the color of a tenant', () => {
  it('any color is adjusted to a contrast of 4.5:1 with background and text in both themes', () => {
    const steps = [0, 0x33, 0x66, 0x99, 0xcc, 0xff]
    const hex = (value: number) => value.toString(16).padStart(2, '0')
    for (const red of steps)
      for (const green of steps)
        for (const blue of steps) {
          const color = `#${hex(red)}${hex(green)}${hex(blue)}`
          const themes = themeColors(color)
          for (const theme of ['light', 'dark'] as const) {
            const { accent, onAccent } = themes[theme]
            expect([color, theme, contrast(accent, PAPERS[theme]) >= 4.5]).toEqual([color, theme, true])
            expect([color, theme, contrast(accent, onAccent) >= 4.5]).toEqual([color, theme, true])
          }
        }
  })

  it('a readable color is not changed', () => {
    expect(themeColors('#0b57d0').light).toEqual({ accent: '#0b57d0', onAccent: '#ffffff' })
    expect(themeColors('#a8c7fa').dark).toEqual({ accent: '#a8c7fa', onAccent: '#000000' })
  })

  it('contrast is measured as WCAG defines it', () => {
    expect(contrast('#000000', '#ffffff')).toBe(21)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  })
})
