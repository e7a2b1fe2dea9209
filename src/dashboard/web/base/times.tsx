/** Times, in the computer's time zone until the reader chooses UTC, which logs and the API use, and the countdown to one. */
import { useEffect, useState } from 'preact/hooks'
import { useWindowValue } from './data.js'
import { Button } from './form.js'

const STORAGE = 'countersign-times'
const CHANGE = 'zonechange'

/** Returns the zone in which times are shown now, such as `Europe/Berlin`. */
export function shownZone(): string {
  return localStorage.getItem(STORAGE) === 'utc' ? 'UTC' : timeZone()
}

/** Returns the zone, and draws the calling component again when the reader changes it. */
export const useShownZone = () => useWindowValue(CHANGE, shownZone)

export function TimesButton() {
  const isUtc = useShownZone() === 'UTC'
  const toggle = () => {
    localStorage.setItem(STORAGE, isUtc ? 'local' : 'utc')
    dispatchEvent(new Event(CHANGE))
  }
  // On a computer whose own zone is UTC there is nothing to choose.
  if (timeZone() === 'UTC') return null
  return <Button text={isUtc ? 'Local times' : 'Times in UTC'} class="quiet" onClick={toggle} />
}

/** Returns a time in the 24-hour format, such as `2026-11-23 14:05:09 GMT+1`. */
function momentText(at: string, zone: string): string {
  const name = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'short' })
    .formatToParts(new Date(at))
    .find(({ type }) => type === 'timeZoneName')
  return `${isoText(at, { timeZone: zone, timeStyle: 'medium' })} ${name?.value ?? zone}`
}

/** Returns the day of a time, such as `2026-11-23`, and the clock where a style is given for it. */
function isoText(at: string, form: Intl.DateTimeFormatOptions): string {
  // The Swedish locale writes days and clocks as ISO 8601 does.
  return new Intl.DateTimeFormat('sv', { dateStyle: 'short', ...form }).format(new Date(at))
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
      {day ? isoText(at, { timeZone: zone }) : full}
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
