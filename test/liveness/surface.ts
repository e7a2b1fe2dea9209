/**
 * Objects of a film, as meshes that carry a photo. Lengths are in distances between the eyes; the origin is the
 * middle between them, x towards the person's left, y downward, z towards the camera.
 */
import type { Portrait } from './portrait.js'

export interface Mesh {
  /** [3n] x, y, z */
  vertices: Float32Array
  /** [2n] pixels of the photo */
  texture: Float32Array
  /** [3m] */
  triangles: Uint32Array
  portrait: Portrait
}

/** Position of a patch's point in space; null where there is nothing. */
type Shape = (x: number, y: number) => readonly [x: number, y: number, z: number] | null

/** Point of the photo that it shows. By default a patch is a part of the photo. */
type Texture = (x: number, y: number) => readonly [x: number, y: number]

interface Patch {
  left: number
  right: number
  top: number
  bottom: number
}

const STEP = 0.07

function meshOf(portrait: Portrait, patch: Patch, shape: Shape, textureAt: Texture = (x, y) => [x, y]): Mesh {
  const columns = Math.ceil((patch.right - patch.left) / STEP)
  const rows = Math.ceil((patch.bottom - patch.top) / STEP)
  const vertices: number[] = []
  const texture: number[] = []
  const index = new Map<number, number>()
  for (let row = 0; row <= rows; row++)
    for (let column = 0; column <= columns; column++) {
      const x = patch.left + ((patch.right - patch.left) * column) / columns
      const y = patch.top + ((patch.bottom - patch.top) * row) / rows
      const point = shape(x, y)
      if (!point) continue
      index.set(row * (columns + 1) + column, vertices.length / 3)
      vertices.push(...point)
      const { origin, axis } = portrait
      const [u, v] = textureAt(x, y)
      texture.push(origin.x + u * axis.x - v * axis.y, origin.y + u * axis.y + v * axis.x)
    }
  const triangles: number[] = []
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const first = row * (columns + 1) + column
      const corners = [first, first + 1, first + columns + 1, first + columns + 2].map((at) => index.get(at))
      const [a, b, c, d] = corners
      if (a === undefined || b === undefined || c === undefined || d === undefined) continue
      triangles.push(a, b, c, b, d, c)
    }
  return {
    vertices: Float32Array.from(vertices),
    texture: Float32Array.from(texture),
    triangles: Uint32Array.from(triangles),
    portrait,
  }
}

/** Half axes of a head whose eyes are 63 mm apart: 164 mm wide, 252 mm high, 189 mm deep. */
const HEAD = { width: 1.3, height: 2, depth: 1.5, centre: 0.05 } as const
/** Height and breadth of the nose. */
const NOSE = { height: 0.45, breadth: 0.17, underside: 0.12 } as const

/** Exponents of its outline: 2 is an ellipse, more is steeper. A forehead recedes, a chin does not. */
const STEEPNESS = { crown: 2.6, chin: 4 } as const

/** Half angle of the surface, in radians: beyond the ears, so that no edge is seen when the head is turned. */
const ROUND = 2.4

/**
 * An ellipsoid, steep at the chin, with a nose. Behind the ears, where the photo ends, it repeats the photo's part
 * before them.
 */
export function head(portrait: Portrait): Mesh {
  const { nose } = portrait
  const noseAt = (x: number, y: number) => {
    const along = Math.min(Math.max(y / nose.y, 0), 1)
    const below = Math.max(y - nose.y, 0) / NOSE.underside
    const aside = (x - nose.x * along) / NOSE.breadth
    return NOSE.height * along * Math.exp(-(aside ** 2 + below ** 2) / 2)
  }
  const { width, height, depth, centre } = HEAD
  /** Width and depth of the ellipsoid at this height, as shares of the largest. */
  const girth = (y: number) => {
    const steepness = y < centre ? STEEPNESS.crown : STEEPNESS.chin
    return Math.sqrt(Math.max(1 - Math.abs((y - centre) / height) ** steepness, 0))
  }
  const aside = (angle: number, y: number) => width * girth(y) * Math.sin(angle)
  const patch = { left: -ROUND, right: ROUND, top: centre - height, bottom: centre + height }
  return meshOf(
    portrait,
    patch,
    (angle, y) => {
      const x = aside(angle, y)
      const isFront = Math.cos(angle) > 0
      return [x, y, depth * girth(y) * Math.cos(angle) - depth + (isFront ? noseAt(x, y) : 0)]
    },
    (angle, y) => [aside(angle, y), y],
  )
}

/** Position of the body below the chin, and so far behind the face that a nodding head stays before it. */
const TORSO = { top: 1.6, z: -2 } as const

/** The body below the head, if the photo shows it: a detector expects no head without it. */
export function torso(portrait: Portrait): Mesh {
  const sheet = sheetOf(portrait)
  const patch = { ...sheet, top: TORSO.top, bottom: Math.max(sheet.bottom, TORSO.top + STEP) }
  return meshOf(portrait, patch, (x, y) => [x, y, TORSO.z])
}

export interface Bend {
  /** The line that stays straight: `vertical` bends the sheet as a column is round. */
  axis: 'vertical' | 'horizontal'
  /** Radius of the column; negative if the sheet is hollow towards the camera. */
  radius: number
}

/** Parts that are cut out of a print to look through. */
const EYE_HOLE = { width: 0.27, height: 0.15, aside: 0.5 } as const

const isInEye = (x: number, y: number) =>
  ((Math.abs(x) - EYE_HOLE.aside) / EYE_HOLE.width) ** 2 + (y / EYE_HOLE.height) ** 2 < 1

/** The photo on a sheet of paper, whole or without its eyes. */
export function print(portrait: Portrait, options: { bend?: Bend; withoutEyes?: boolean } = {}): Mesh {
  const { bend, withoutEyes = false } = options
  return meshOf(portrait, sheetOf(portrait), (x, y) => {
    if (withoutEyes && isInEye(x, y)) return null
    if (!bend) return [x, y, 0]
    const { radius } = bend
    const along = bend.axis === 'vertical' ? x : y
    // Paper bends at most half around.
    const angle = along / radius
    if (Math.abs(angle) > Math.PI / 2) return null
    const [across, depth] = [radius * Math.sin(angle), radius * (Math.cos(angle) - 1)]
    return bend.axis === 'vertical' ? [across, y, depth] : [x, across, depth]
  })
}

/** The eyes and their surroundings, flat: they move behind a print without eyes. */
export function eyes(portrait: Portrait): Mesh {
  return meshOf(portrait, { left: -1, right: 1, top: -0.4, bottom: 0.4 }, (x, y) => [x, y, 0])
}

/** Largest part of a photo that a sheet shows around the face, so that the frame's edges do not always cut it off. */
const SHEET = { aside: 2.6, above: 2.6, below: 3.2 } as const

function sheetOf({ origin, axis, width, height }: Portrait): Patch {
  const unit = Math.hypot(axis.x, axis.y)
  return {
    left: -Math.min(SHEET.aside, origin.x / unit),
    right: Math.min(SHEET.aside, (width - origin.x) / unit),
    top: -Math.min(SHEET.above, origin.y / unit),
    bottom: Math.min(SHEET.below, (height - origin.y) / unit),
  }
}
