/** Formats rates for readers. */
import type { Interval } from './intervals.js'

/** Formats a rate with as many digits as its size needs; a rate of no pairs is a dash. */
export function percent(rate: number | null): string {
  if (rate === null || Number.isNaN(rate)) return '–'
  const value = 100 * rate
  if (value === 0 || value >= 100) return `${value} %`
  return `${value >= 1 ? value.toFixed(2) : digits(value)} %`
}

/** Formats a requested rate as it was requested. */
export function nominal(rate: number): string {
  return `${Number((100 * rate).toPrecision(6)).toLocaleString('en-US', { maximumFractionDigits: 10 })} %`
}

export function range([low, high]: Interval): string {
  return `${percent(low).replace(/ %$/, '')} to ${percent(high)}`
}

/** `1 in 10,000`. */
export function oneIn(rate: number): string {
  return rate > 0 ? `1 in ${count(Number((1 / rate).toPrecision(2)))}` : 'none'
}

export function count(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

export function people(number: number): string {
  return `${count(number)} ${number === 1 ? 'person' : 'people'}`
}

/** Two significant digits, never with an exponent. */
function digits(value: number): string {
  return value.toFixed(Math.min(20, 1 - Math.floor(Math.log10(value))))
}
