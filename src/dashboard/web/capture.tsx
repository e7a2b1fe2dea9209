/** The capture component, with its camera on from the moment at which it is shown: a button of the page asked for it. */
import { useEffect, useRef } from 'preact/hooks'
import '../../capture/capture.js'
import type { CaptureDetail, CaptureDetector, CountersignCapture } from '../../capture/capture.js'

export interface CaptureProps {
  mode: CaptureDetail['mode']
  /** Null: an oval that says nothing. */
  detector: CaptureDetector | null
  /** The camera's picture is shown; a challenge is due. */
  onReady?: (capture: CountersignCapture) => void
  onCapture: (detail: CaptureDetail) => void
  onCancel: () => void
}

export function Capture(props: CaptureProps) {
  const host = useRef<HTMLDivElement>(null)
  // What was typed since it was shown counts.
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const capture = document.createElement('countersign-capture')
    capture.setAttribute('mode', props.mode)
    capture.detector = props.detector
    capture.addEventListener('cs-ready', () => latest.current.onReady?.(capture))
    capture.addEventListener('cs-capture', ({ detail }) => latest.current.onCapture(detail))
    capture.addEventListener('cs-cancel', () => latest.current.onCancel())
    host.current!.append(capture)
    void capture.start()
    return () => capture.remove()
  }, [])
  return <div class="capture" ref={host} />
}
