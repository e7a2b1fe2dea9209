/** Times, in the computer's time zone until the reader chooses UTC, which logs and the API use, and the countdown to one. */
import { useEffect, useState } from 'preact/hooks'
import { useWindowValue } from './data.js'
import { Button } from './form.js'

type Zone = 'local' | 'utc'
const STORAGE = 'countersign-times'
const CHANGE = 'zonechange'

function currentZone(): Zone {
  return localStorage.getItem(STORAGE) === 'utc' ? 'utc' : 'local'
}

/** Returns the zone in which times are shown now, such as `Europe/Berlin`. */
export function shownZone(): string {
  return currentZone() === 'utc' ? 'UTC' : timeZone()
}

/** Returns the zone, and draws the calling component again when the reader changes it. */
export const useShownZone = () => useWindowValue(CHANGE, shownZone)

export function TimesButton() {
  const isUtc = useShownZone() === 'UTC'
  const isOnlyUtc = timeZone() === 'UTC'
  const toggle = () => {
    localStorage.setItem(STORAGE, currentZone() === 'utc' ? 'local' : 'utc')
    dispatchEvent(new Event(CHANGE))
  }
  // On a computer whose own zone is UTC there is nothing to choose.
  if (isOnlyUtc) return null
  return <Button text={isUtc ? 'Local times' : 'Times in UTC'} class="quiet" onClick={toggle} />
}

/** Returns a time in the 24-hour format, such as `2026-11-23 14:05:09 GMT+1`. */
function momentText(at: string, zone: string): string {
  const name = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'short' })
    .formatToParts(new Date(at))
    .find(({ type }) => type === 'timeZoneName')
  return `${dayText(at, zone)} ${clockText(at, zone)} ${name?.value ?? zone}`
}

/** Returns the day of a time, such as `2026-11-23`. */
function dayText(at: string, zone: string): string {
  // The Swedish locale writes days as ISO 8601 does.
  return new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' }).format(new Date(at))
}

function clockText(at: string, zone: string): string {
  const form: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' }
  return new Intl.DateTimeFormat('en', { ...form, timeZone: zone, hourCycle: 'h23' }).format(new Date(at))
}

/** Returns the time zone of the computer, which the fields for times use, such as `Europe/Berlin`. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Shows a time, or `none` where there is none. With `day` it shows only the day, and the whole time in the tooltip. */
export function Time({ at, day, none = '–' }: { at: string | null; day?: boolean; none?: string }) {
  const zone = useShownZone()
  if (at === null) return <>{none}</>
  const full = momentText(at, zone)
  return (
    <time dateTime={at} title={full}>
      {day ? dayText(at, zone) : full}
    </time>
  )
}

/** Counts down every second, by the service's clock. */
export function Countdown({ until, now }: { until: string; now: string }) {
  const [remainingMs, setRemainingMs] = useState(Date.parse(until) - Date.parse(now))
  useEffect(() => {
    const end = performance.now() + Date.parse(until) - Date.parse(now)
    const tick = () => setRemainingMs(end - performance.now())
    tick()
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [until, now])
  const seconds = Math.max(0, Math.round(remainingMs / 1000))
  return (
    <span class="countdown" role="timer">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
    </span>
  )
}
