/** A photo with the face that was found in it, and the camera that takes one. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Inspection } from '../contract.js'

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

export function Camera({
  onShot,
  onError,
}: {
  onShot: (url: string) => void
  onError: (message: string) => void
}) {
  const video = useRef<HTMLVideoElement>(null)
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    let stream: MediaStream | undefined
    let gone = false
    const stop = () => {
      for (const track of stream?.getTracks() ?? []) track.stop()
    }
    const asked = navigator.mediaDevices?.getUserMedia({ video: { facingMode: 'user' } })
    if (!asked) onError('The browser gives no camera here; it does so on https:// and on localhost.')
    asked?.then(
      (opened) => {
        stream = opened
        if (gone) stop()
        else video.current!.srcObject = opened
      },
      () => onError('The camera cannot be used: there is none, or the browser may not use it here.'),
    )
    return () => {
      gone = true
      stop()
    }
  }, [])
  const shoot = () => {
    const { videoWidth, videoHeight } = video.current!
    const canvas = Object.assign(document.createElement('canvas'), { width: videoWidth, height: videoHeight })
    canvas.getContext('2d')!.drawImage(video.current!, 0, 0)
    onShot(canvas.toDataURL('image/jpeg', 0.9))
  }
  return (
    <>
      <div class="photo">
        <video ref={video} autoplay muted playsInline onLoadedData={() => setReady(true)} />
      </div>
      <div class="toolbar">
        <button type="button" class="primary" disabled={!isReady} onClick={shoot}>
          Take the photo
        </button>
      </div>
    </>
  )
}
