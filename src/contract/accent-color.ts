/** A tenant's color on the capture page, adjusted for each theme so that text and lines stay readable (WCAG 2.2, 1.4.3 and 1.4.11). */

/** Background colors of the page in its two themes. */
const PAPER = { light: '#ffffff', dark: '#1f2023' } as const
/** Minimum contrast ratio of text of usual size (WCAG level AA). */
const MIN_CONTRAST = 4.5
/** Share of black or white that each step mixes in, 0 to 1. */
const MIX_STEP = 0.04

export type Theme = keyof typeof PAPER

export interface ThemeColor {
  /** Color of lines and of the background of buttons, #rrggbb. */
  accent: string
  /** Color of text on the accent color. */
  onAccent: '#000000' | '#ffffff'
}

export const HEX_COLOR = /^#[0-9a-f]{6}$/

/**
 * The color for both themes. Where it has too little contrast with the page's background, black (light theme) or white (dark theme) is
 * mixed in until it has 4.5:1; the text on it is black or white, whichever is easier to read.
 * @param color #rrggbb in lower case
 */
export function themeColors(color: string): Record<Theme, ThemeColor> {
  return { light: themeColor(color, 'light'), dark: themeColor(color, 'dark') }
}

function themeColor(color: string, theme: Theme): ThemeColor {
  const toward = theme === 'light' ? '#000000' : '#ffffff'
  let accent = color
  for (let share = MIX_STEP; contrast(accent, PAPER[theme]) < MIN_CONTRAST; share += MIX_STEP)
    accent = mix(color, toward, Math.min(share, 1))
  const onAccent = contrast(accent, '#ffffff') >= contrast(accent, '#000000') ? '#ffffff' : '#000000'
  return { accent, onAccent }
}

/** Contrast ratio of two colors, 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = channels(color).map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(color: string, toward: string, share: number): string {
  const target = channels(toward)
  const mixed = channels(color).map((channel, index) =>
    Math.round(channel + (target[index]! - channel) * share),
  )
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}
