/** The time zone in which times are shown: the computer's until the reader chooses UTC, which logs and the API use. */
import { useEffect, useState } from 'preact/hooks'
import { Button } from './form.js'

type Zone = 'local' | 'utc'
const STORAGE = 'countersign-times'
const CHANGE = 'zonechange'

function currentZone(): Zone {
  return localStorage.getItem(STORAGE) === 'utc' ? 'utc' : 'local'
}

/** Returns the zone in which times are shown now, such as `Europe/Berlin`. */
export function shownZone(): string {
  return currentZone() === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Returns the zone, and draws the calling component again when the reader changes it. */
export function useShownZone(): string {
  const [zone, setZone] = useState(shownZone)
  useEffect(() => {
    const follow = () => setZone(shownZone())
    addEventListener(CHANGE, follow)
    return () => removeEventListener(CHANGE, follow)
  }, [])
  return zone
}

export function TimesButton() {
  const isUtc = useShownZone() === 'UTC'
  const isOnlyUtc = Intl.DateTimeFormat().resolvedOptions().timeZone === 'UTC'
  const toggle = () => {
    localStorage.setItem(STORAGE, currentZone() === 'utc' ? 'local' : 'utc')
    dispatchEvent(new Event(CHANGE))
  }
  // On a computer whose own zone is UTC there is nothing to choose.
  if (isOnlyUtc) return null
  return <Button text={isUtc ? 'Local times' : 'Times in UTC'} class="quiet" onClick={toggle} />
}

/** Returns a time in the 24-hour format, such as `2026-11-23 14:05:09 GMT+1`. */
export function momentText(at: string, zone: string): string {
  const name = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'short' })
    .formatToParts(new Date(at))
    .find(({ type }) => type === 'timeZoneName')
  return `${dayText(at, zone)} ${clockText(at, zone)} ${name?.value ?? zone}`
}

/** Returns the day of a time, such as `2026-11-23`. */
export function dayText(at: string, zone: string): string {
  // The Swedish locale writes days as ISO 8601 does.
  return new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' }).format(new Date(at))
}

function clockText(at: string, zone: string): string {
  const form: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' }
  return new Intl.DateTimeFormat('en', { ...form, timeZone: zone, hourCycle: 'h23' }).format(new Date(at))
}
