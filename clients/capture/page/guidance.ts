/** Asks the service for guidance in the session of the page. The page keeps the frontal frame from which a nod is measured. */
import type { CaptureDetector } from '../capture.js'

/** @param address to which frames are sent */
export function guidance(address: string): CaptureDetector {
  let ahead: string | null = null
  return async (frame, step, signal) => {
    const image = await toBase64(frame)
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ image, step, ...(step === 'frontal' || !ahead ? {} : { frontal: ahead }) }),
      signal,
    })
    if (!response.ok) throw new Error(`guidance: ${response.status}`)
    const { guidance } = await response.json()
    if (step === 'frontal' && guidance.length === 0) ahead = image
    return guidance
  }
}

export function toBase64(image: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(image)
  })
}
