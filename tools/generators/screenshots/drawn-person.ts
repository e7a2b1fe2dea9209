/** A person who does not exist, drawn for the camera of a picture. */
import sharp from 'sharp'

/** Pixels of the camera. */
const [WIDTH, HEIGHT] = [480, 640] as const
const FRAMES = 12

const drawing = (
  lift: number,
) => `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#c9d5e2"/>
<g transform="translate(0 ${lift})">
  <path d="M120 300C100 120 380 120 360 300L372 420C350 470 130 470 108 420Z" fill="#3b2c28"/>
  <path d="M40 660C50 530 150 500 240 500S430 530 440 660Z" fill="#3f6b8f"/>
  <path d="M196 420h88v70c0 50-88 50-88 0Z" fill="#cf9a78"/>
  <ellipse cx="240" cy="310" rx="100" ry="132" fill="#e2b08d"/>
  <path d="M140 290C140 190 200 172 250 176C320 176 342 226 340 290C320 250 290 222 262 214C230 250 180 262 140 290Z" fill="#3b2c28"/>
  <path d="M172 286q26-14 48 0M260 286q24-14 48 0" fill="none" stroke="#4a352c" stroke-width="6" stroke-linecap="round"/>
  <g fill="#fff"><ellipse cx="197" cy="310" rx="17" ry="10"/><ellipse cx="283" cy="310" rx="17" ry="10"/></g>
  <g fill="#2f3f4f"><circle cx="197" cy="310" r="8.5"/><circle cx="283" cy="310" r="8.5"/></g>
  <path d="M240 318l-10 44q10 8 22 2" fill="none" stroke="#b98262" stroke-width="5" stroke-linecap="round" stroke-linejoin="round"/>
  <path d="M206 392q34 22 68 0" fill="none" stroke="#a8554f" stroke-width="8" stroke-linecap="round"/>
</g>
</svg>`

/** @returns one picture for each frame of a film; no two are equal, because those of a camera never are */
export function drawnPerson(): Promise<Buffer[]> {
  return Promise.all(
    Array.from({ length: FRAMES }, (_, index) =>
      sharp(Buffer.from(drawing(Math.sin((index / FRAMES) * 2 * Math.PI) * 2)))
        .png()
        .toBuffer(),
    ),
  )
}

export const CAMERA = { width: WIDTH, height: HEIGHT, fps: 12 }
