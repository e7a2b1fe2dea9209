/** The capture component. Its camera goes on as soon as it is shown, since the person pressed a button for it. */
import { useEffect, useRef } from 'preact/hooks'
import '../../../../clients/capture/capture.js'
import type {
  CaptureDetail,
  CaptureDetector,
  CountersignCapture,
} from '../../../../clients/capture/capture.js'

export interface CaptureProps {
  mode: CaptureDetail['mode']
  /** The function that gives guidance, or null for none. */
  detector: CaptureDetector | null
  /** Called when the camera's picture is shown: a challenge is due then. */
  onReady?: (capture: CountersignCapture) => void
  onCapture: (detail: CaptureDetail) => void
  onCancel: () => void
}

export function Capture(props: CaptureProps) {
  const host = useRef<HTMLDivElement>(null)
  // The handlers use the latest props, with the text that was typed since the component was shown.
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
