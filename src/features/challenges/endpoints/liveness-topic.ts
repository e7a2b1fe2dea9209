import type { Topic } from '../../../api/endpoint.js'

export const LIVENESS: Topic = {
  name: 'liveness',
  about: 'Challenges for a person in front of the camera, and guidance meanwhile.',
}
