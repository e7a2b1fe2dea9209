import { describe, expect, it } from 'vitest'
import { yawOf } from '../../tools/evaluation/head-pose.js'

/** Eyes, nose tip and mouth of the generic head in millimetre-like units, as a distant camera sees it. */
function seen(yawDegrees: number, rollDegrees = 0, scale = 1): Array<[number, number]> {
  const head = [
    [-150, 170, -135],
    [150, 170, -135],
    [0, 0, 0],
    [-150, -150, -135],
    [150, -150, -135],
  ]
  const [yaw, roll] = [(yawDegrees * Math.PI) / 180, (rollDegrees * Math.PI) / 180]
  return head.map(([x, y, z]) => {
    const turned = x! * Math.cos(yaw) + z! * Math.sin(yaw)
    return [
      scale * (turned * Math.cos(roll) - y! * Math.sin(roll)) + 320,
      scale * (-turned * Math.sin(roll) - y! * Math.cos(roll)) + 240,
    ]
  })
}

describe('how far a head is turned', () => {
  it.each([0, 10, 30, -45, 60])('the yaw follows from five points: %i degrees', (yaw) => {
    expect(yawOf(seen(yaw))).toBeCloseTo(Math.abs(yaw), 6)
  })

  it('the yaw does not depend on tilt and size', () => {
    for (const roll of [-30, 20, 80]) expect(yawOf(seen(25, roll, 0.1))).toBeCloseTo(25, 6)
  })
})
