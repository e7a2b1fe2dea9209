/** Shows a photo with the face that was found in it. */
import { useState } from 'preact/hooks'
import type { Inspection } from '../../contract.js'

export function Photo({ url, inspection }: { url: string; inspection: Inspection | null }) {
  const [size, setSize] = useState<[number, number] | null>(null)
  return (
    <div class="photo">
      <img
        src={url}
        alt="Chosen"
        onLoad={(event) => setSize([event.currentTarget.naturalWidth, event.currentTarget.naturalHeight])}
      />
      {size && inspection && (
        <svg viewBox={`0 0 ${size[0]} ${size[1]}`} role="img" aria-label="Detected face and landmarks">
          <rect {...inspection.box} />
          {inspection.landmarks?.map(([x, y]) => (
            <circle key={`${x},${y}`} cx={x} cy={y} r={Math.max(...size) / 110} />
          ))}
        </svg>
      )}
    </div>
  )
}

export function dataUrl(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}

/** Returns the base64 of a data URL, which is the part that the API takes. */
export function base64Of(url: string): string {
  return url.slice(url.indexOf(',') + 1)
}
