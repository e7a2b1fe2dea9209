/** The capture component. Its camera goes on as soon as it is shown, since the person pressed a button for it. */
import { useEffect, useRef } from 'preact/hooks'
import '../../../../clients/capture/capture.js'
import type {
  CaptureDetail,
  CaptureDetector,
  CaptureGuidance,
  CountersignCapture,
} from '../../../../clients/capture/capture.js'
import { tryCall } from '../base/api.js'
import { base64Of, dataUrl } from '../base/photo.js'
import type { Trial } from './trial.js'

export function Capture(props: {
  /** Gives guidance where it has a key. */
  trial: Trial
  mode: CaptureDetail['mode']
  /** Called when the camera's picture is shown: a challenge is due then. */
  onReady?: (capture: CountersignCapture) => void
  onCapture: (detail: CaptureDetail) => void
  onCancel: () => void
}) {
  const host = useRef<HTMLDivElement>(null)
  // The handlers use the latest props, with the text that was typed since the component was shown.
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const capture = document.createElement('countersign-capture')
    capture.setAttribute('mode', props.mode)
    capture.detector = props.trial.apiKey ? guideOf(props.trial) : null
    capture.addEventListener('cs-ready', () => latest.current.onReady?.(capture))
    capture.addEventListener('cs-capture', ({ detail }) => latest.current.onCapture(detail))
    capture.addEventListener('cs-cancel', () => latest.current.onCancel())
    host.current!.append(capture)
    void capture.start()
    return () => capture.remove()
  }, [])
  return <div class="capture" ref={host} />
}

/** Asks the API for guidance in front of the camera, with the key that the person tries. */
function guideOf({ tenantId, apiKey, userId }: Trial): CaptureDetector {
  /** The latest faultless frontal frame, from which movements are measured. */
  let frontal: string | undefined
  return async (frame, step) => {
    const image = base64Of(await dataUrl(frame))
    const body = { user_id: userId, image, step, ...(frontal && step !== 'frontal' ? { frontal } : {}) }
    const answer = await tryCall(tenantId, { key: apiKey, operation: 'guidance', body })
    if (answer.status !== 200) throw new Error(`guidance: ${answer.status}`)
    const guidance = answer.body.guidance as CaptureGuidance[]
    if (step === 'frontal' && guidance.length === 0) frontal = image
    return guidance
  }
}
