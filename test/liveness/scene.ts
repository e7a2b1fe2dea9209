/** A camera's frame of meshes: perspective, depth buffer, plain background, noise of a sensor. */
import sharp from 'sharp'
import type { Random } from '../hostile/random.js'
import type { Mesh } from './surface.js'

/** Rotation of a mesh about `pivot`, in degrees, followed by a shift in distances between the eyes. */
export interface Pose {
  /** Degrees, positive to the person's left. */
  yaw: number
  /** Degrees, positive upward. */
  pitch: number
  roll: number
  pivot: readonly [x: number, y: number, z: number]
  shift: readonly [x: number, y: number, z: number]
}

export interface Camera {
  width: number
  height: number
  /** Angle of view across the long side, in degrees. */
  fieldOfView: number
  /** Distance from the origin, in distances between the eyes. */
  distance: number
}

export interface Thing {
  mesh: Mesh
  pose: Pose
}

const BACKGROUND = [168, 172, 176] as const
const JPEG_QUALITY = 85

export function renderFrame(things: readonly Thing[], camera: Camera, random: Random): Promise<Buffer> {
  const { width, height } = camera
  const pixels = new Uint8Array(width * height * 3)
  for (let i = 0; i < pixels.length; i++) pixels[i] = BACKGROUND[i % 3]!
  const depths = new Float32Array(width * height).fill(Number.POSITIVE_INFINITY)
  for (const thing of things) draw(thing, camera, pixels, depths)
  addNoise(pixels, random)
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer()
}

/** Amplitude of the noise in gray levels. */
const NOISE = 3

export function addNoise(pixels: Uint8Array, random: Random): void {
  let state = random.below(2 ** 31) | 1
  for (let i = 0; i < pixels.length; i++) {
    // xorshift is fast enough for a million draws a frame.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    const level = pixels[i]! + ((state >>> 8) % (2 * NOISE + 1)) - NOISE
    pixels[i] = level < 0 ? 0 : level > 255 ? 255 : level
  }
}

function draw({ mesh, pose }: Thing, camera: Camera, pixels: Uint8Array, depths: Float32Array): void {
  const { width, height } = camera
  const seen = project(mesh.vertices, pose, camera)
  const { triangles, texture, portrait } = mesh
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!]
    const [ax, ay, az] = [seen[3 * a]!, seen[3 * a + 1]!, seen[3 * a + 2]!]
    const [bx, by, bz] = [seen[3 * b]!, seen[3 * b + 1]!, seen[3 * b + 2]!]
    const [cx, cy, cz] = [seen[3 * c]!, seen[3 * c + 1]!, seen[3 * c + 2]!]
    const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    // A triangle that faces away shows the photo's back: paper's back is never visible, and a head's is behind its
    // front.
    if (area <= 0) continue
    const [left, right] = span(ax, bx, cx, width)
    const [top, bottom] = span(ay, by, cy, height)
    for (let y = top; y <= bottom; y++)
      for (let x = left; x <= right; x++) {
        const toB = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
        const toC = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
        const toA = 1 - toB - toC
        if (toA < -EDGE || toB < -EDGE || toC < -EDGE) continue
        const depth = toA * az + toB * bz + toC * cz
        const at = y * width + x
        if (depth >= depths[at]!) continue
        depths[at] = depth
        sample(
          portrait,
          toA * texture[2 * a]! + toB * texture[2 * b]! + toC * texture[2 * c]!,
          toA * texture[2 * a + 1]! + toB * texture[2 * b + 1]! + toC * texture[2 * c + 1]!,
          pixels,
          3 * at,
        )
      }
  }
}

/** Overlap in pixels, so that no pixel falls between two triangles. */
const EDGE = 1e-4

/** First and last whole pixel inside the picture. */
function span(a: number, b: number, c: number, size: number): [number, number] {
  return [Math.max(0, Math.ceil(Math.min(a, b, c))), Math.min(size - 1, Math.floor(Math.max(a, b, c)))]
}

/** [3n] x and y in pixels, and the distance from the camera's plane. */
function project(vertices: Float32Array, pose: Pose, camera: Camera): Float32Array {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const [sinYaw, cosYaw] = [Math.sin(radians(pose.yaw)), Math.cos(radians(pose.yaw))]
  const [sinPitch, cosPitch] = [Math.sin(radians(pose.pitch)), Math.cos(radians(pose.pitch))]
  const [sinRoll, cosRoll] = [Math.sin(radians(pose.roll)), Math.cos(radians(pose.roll))]
  const { pivot, shift } = pose
  const { width, height, distance } = camera
  const focal = Math.max(width, height) / 2 / Math.tan(radians(camera.fieldOfView) / 2)
  const seen = new Float32Array(vertices.length)
  for (let i = 0; i < vertices.length; i += 3) {
    const [x, y, z] = [vertices[i]! - pivot[0], vertices[i + 1]! - pivot[1], vertices[i + 2]! - pivot[2]]
    const turned = [x * cosYaw + z * sinYaw, y, z * cosYaw - x * sinYaw] as const
    const nodded = [
      turned[0],
      turned[1] * cosPitch - turned[2] * sinPitch,
      turned[1] * sinPitch + turned[2] * cosPitch,
    ] as const
    const away = distance - (nodded[2] + pivot[2] + shift[2])
    const scale = focal / Math.max(away, 0.1)
    seen[i] = width / 2 + scale * (nodded[0] * cosRoll - nodded[1] * sinRoll + pivot[0] + shift[0])
    seen[i + 1] = height / 2 + scale * (nodded[0] * sinRoll + nodded[1] * cosRoll + pivot[1] + shift[1])
    seen[i + 2] = away
  }
  return seen
}

/** Bilinear sample; beyond the photo's edges that of the nearest pixel. */
function sample(
  photo: { pixels: Uint8Array; width: number; height: number },
  u: number,
  v: number,
  into: Uint8Array,
  at: number,
): void {
  const { pixels, width, height } = photo
  const x = Math.min(Math.max(u, 0), width - 1.001)
  const y = Math.min(Math.max(v, 0), height - 1.001)
  const [left, top] = [Math.floor(x), Math.floor(y)]
  const [right, down] = [x - left, y - top]
  const first = 3 * (top * width + left)
  const below = first + 3 * width
  for (let channel = 0; channel < 3; channel++) {
    const above = pixels[first + channel]! * (1 - right) + pixels[first + 3 + channel]! * right
    const under = pixels[below + channel]! * (1 - right) + pixels[below + 3 + channel]! * right
    into[at + channel] = above * (1 - down) + under * down
  }
}
