/** Reads the output grid of a Tiny YOLO v2 face detector. */
import type { Detection } from './detection.js'

/**
 * Each cell of the grid holds five numbers an anchor: x, y (sigmoid, in cells from the cell's corner), width, height
 * (exp, times the anchor, in cells) and objectness (sigmoid). Redmon & Farhadi, YOLO9000, section 2.
 * @param grid [anchors × 5, rows, columns]
 * @param size side of the square network input, in its pixels; boxes are returned in the same pixels
 * @param scoreThreshold only higher scores are kept
 */
export function decodeTinyYoloV2(
  grid: Float32Array,
  rows: number,
  columns: number,
  size: number,
  anchors: ReadonlyArray<readonly [number, number]>,
  scoreThreshold: number,
): Detection[] {
  const cells = rows * columns
  const cellWidth = size / columns
  const cellHeight = size / rows
  const detections: Detection[] = []
  anchors.forEach(([anchorWidth, anchorHeight], anchor) => {
    const first = anchor * 5 * cells
    for (let cell = 0; cell < cells; cell++) {
      const score = sigmoid(grid[first + 4 * cells + cell]!)
      if (!(score > scoreThreshold)) continue
      const width = Math.exp(grid[first + 2 * cells + cell]!) * anchorWidth * cellWidth
      const height = Math.exp(grid[first + 3 * cells + cell]!) * anchorHeight * cellHeight
      const centreX = ((cell % columns) + sigmoid(grid[first + cell]!)) * cellWidth
      const centreY = (Math.floor(cell / columns) + sigmoid(grid[first + cells + cell]!)) * cellHeight
      detections.push({
        box: { x: centreX - width / 2, y: centreY - height / 2, width, height },
        score,
        points: null,
      })
    }
  })
  return detections
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}
