/**
 * Scripts, and the letters that pass for Latin ones. `scripts/write-lookalikes.mjs` writes this file from confusables.txt 16.0.0 of
 * Unicode Technical Standard #39 (copyright 2024 Unicode, Inc., Unicode License v3, https://www.unicode.org/license.txt).
 */

/** Version of the standard's data. */
export const UNICODE_VERSION = '16.0.0'
/** Highest class of an alphabet in use; Latin is 1. */
export const LAST_ALPHABET = 5
/** Highest class of a rare script or of Roman numerals. Higher classes are scripts whose words hold Latin letters as well. */
export const LAST_RARE = 25
/** Added to the class of a letter that passes for a Latin letter or a digit. */
export const LOOKALIKE = 64
/** Added to the class of a character that only passes for another. */
export const ODD = 128
/** The characters from U+0080: unclassed ones before the range, length of the range, class; each in base 36. */
export const RANGES =
  '1s n 1 1 v 1 1 1m 1 0 2 3l 0 4 1 0 1 3l 0 1y 1 0 1 3l 0 4 1 0 1 3l 0 8 1 0 1 3l 0 8 1 0 1 3l 0 f 1 0 ' +
  '2 3l 0 f 1 0 1 3l 0 4 1 0 2 3l 0 2 1 0 2 3l 0 5 1 0 6 3l 0 10 1 0 3 3l 0 14 1 0 1 3l 0 5 1 0 2 3l 0 ' +
  '19 1 0 1 3l 0 f 1 0 3 3l 0 5 1 0 2 3l 0 4 1 0 1 3l 0 4 1 0 1 3l 0 1 1 0 1 3l 0 9 1 0 1 3l 0 a 1 0 1 ' +
  '3l 0 3 1 0 1 3l 0 9 1 0 1 3l 0 1 1 0 2 3l 0 2 1 0 1 3l 0 3 1 0 1 3l 0 2 1 0 1 3l 0 3 1 0 2 3l 0 4 1 ' +
  '0 1 3l 0 1 1 0 2 3l 0 3 1 0 2 3l y 1 3k 4 1 1 0 3 3l 0 1 1 3v 4 5 2 2 5 2 1 1x 0 3 5 1 1 1x 6 1 1x 1 ' +
  '7 1x 0 1 5 0 3 1x 0 2 5 0 3 1x 0 1 5 0 2 1x 0 1 5 0 2 1x 0 1 5 0 1 1x 0 1 5 0 1 1x 1 1 5 0 2 1x 0 1 ' +
  '5 0 1 1x 0 2 5 0 3 1x 0 2 5 0 3 1x 0 1 5 0 1 1x 0 5 5 0 2 1x 0 2 5 0 1 1x 0 1 5 0 1 1x 0 1 5 0 1 1x ' +
  '0 1 5 0 1 1x 0 1 5 0 1 1x 0 4 5 0 4 1x 0 4 5 0 3 1x 0 7 5 0 1 1x 0 5 5 0 e b 0 4 1x 0 2 5 1 2 5 0 2 ' +
  '1x 0 5 5 0 2 1v 0 3 3 0 4 1v 0 3 3 0 1 1v 0 1 3 0 1 1v 0 1 3 0 1 1v 0 1 3 0 1 1v 0 2 3 0 1 1v 0 4 3 ' +
  '0 1 1v 0 1 3 0 3 1v 0 1 3 0 4 1v 0 1 3 0 1 1v 0 6 3 0 1 1v 0 3 3 0 1 1v 0 2 3 0 1 1v 0 1 3 0 1 1v 0 ' +
  '4 3 0 1 1v 0 3 3 0 1 1v 0 1 3 0 2 1v 0 1 3 0 1 1v 0 1 3 0 1 1v 0 a 3 0 2 1v 0 1 3 0 1 1v 0 1 3 0 4 ' +
  '1v 0 3 3 0 1 1v 0 1 3 0 1 1v 0 2 3 0 1 1v 0 i 3 0 4 1v 0 a 3 8 10 3 0 2 1v 0 b 3 0 1 1v 0 1 3 0 1 1v ' +
  '0 2 3 0 1 1v 0 e 3 0 5 1v 0 2 3 0 2 1v 0 e 3 0 2 1v 0 6 3 0 6 1v 0 d 3 0 1 1v 0 a 3 0 1 1v 0 e 3 0 3 ' +
  '1v 0 i 3 1 s 2 0 1 1u 0 1 2 0 1 1u 0 5 2 0 1 1u 0 4 2 6 1 2 0 1 1u 0 1 2 0 1 1u 0 2 2 0 1 1u 0 9 2 0 ' +
  '1 1u 0 7 2 0 1 1u 0 3 2 0 2 1u 0 3 2 0 1 1u 0 2 2 0 2 1u 0 3 2 1j 1 3k f 5 x 0 1 2p 0 2 x 0 1 2p 0 6 ' +
  'x 0 1 2p 0 1 x 0 1 2p 0 h x 19 2 q 0 2 2i 0 1 q 0 1 2i 0 1 q 0 1 2i 0 o q 1 6 q 0 1 2i 0 p q 0 1 2i ' +
  '0 3 q 0 1 2i 0 1 q 0 1 2i 0 2 q 4 28 q 0 1 2i 0 1 q 0 3 2i 0 h q 1 1 2i f 2 q 7 3 q 0 1 2i 0 3 q 0 1 ' +
  '2i 0 1 q 0 1 2i 0 5 q 2 1 q 28 1c q 1s 1 2a 0 9 i 0 1 2a 0 17 i 4 1 i 39 o q 1 1t q 1m 2m s 4 1 2k 0 ' +
  '9 s 1 f s 0 2q r 4 1 2j 0 3 r 0 1 2j 0 2 r 0 1 2j 0 4 r 2 6 r 2 1 r 8 2i v 7 2 2n 0 2 v 0 1 2n 0 a v ' +
  'g 2l u 4 1 2m 0 9 u 9 1 u b r 12 0 1 2u 0 1t 12 4 1 2u 0 1 12 0 1 2u 0 7 12 1 7 12 b 26 13 l 1 2v 0 ' +
  'c 13 i 2l 14 4 1 2w 0 9 14 8 7 14 1 1 y 4 2l y 4 1 2q 0 c y h s 10 0 1 2s 0 1a 10 5 e 10 4 1 2s 0 6 ' +
  '10 0 1 2s 0 b 10 1 6 10 3l 1f 15 c 7 15 9 1 2x 0 9 15 13 1y z 9 1 2r 0 f z 80 t 11 0 1 2t 0 y 11 0 1 ' +
  '2t 0 9 11 6 22 11 6 1z 4 0 1 1w 0 j 4 1 3 4 0 1 1w 74 1 2l 0 5r t 0 1 2l 0 3u t e 13 t g 3 22 0 2 a ' +
  '0 1 22 0 3 a 0 4 22 0 6 a 0 1 22 0 3 a 0 1 22 0 3 a 0 1 22 0 1 a 0 1 22 0 2 a 0 1 22 0 1 a 0 2 22 0 ' +
  'b a 0 1 22 0 2 a 0 1 22 0 1 a 0 2 22 0 3 a 0 2 22 0 3 a 0 2 22 0 2 a 0 1 22 0 3 a 0 2 22 0 b a 0 2 ' +
  '22 0 9 a 3 1a 8 0 1 20 0 s 8 0 1 20 0 w 8 0 1 20 0 1 8 0 1 20 0 2 8 0 1 20 0 q 8 0 1 20 0 s 8 0 1 20 ' +
  '0 46 8 0 1 20 0 1m 8 0 2 20 0 9 8 0 1 20 0 13 8 0 1 20 0 4 8 0 1 20 0 g 8 0 1 20 0 o 8 0 1 20 0 b 8 ' +
  '0 1 20 0 5 8 0 1 20 0 6 8 0 1 20 0 39 8 0 2 3k 0 h 8 w n l 0 1 2d 0 9 l 0 1 2d 0 j l 0 2 2d 0 k l 3 ' +
  'b l c7 1y 8 p6 b 3 5 1c 4 1s z 3l 0 3 1 0 1 1x 0 4 5 0 1 3 0 1 3l 0 1 1 0 1 3l 0 1 1 0 2 3l 0 1 1 0 ' +
  '8 3l 0 1 1 0 1 3l 0 1 1 0 6 3l 0 3 1 0 3 3l 0 3 1 0 1 3l 0 1 1 0 2 3l 0 1 1 0 1 3l 0 3 1 0 3 3l 0 2 ' +
  '1 0 1 3l 0 1 1 0 5 5 0 4 3l 0 5 5 0 1 3l 0 c 1 0 1 3 0 a 1 0 1 3l 0 8 1 0 1 3l 0 f 1 0 1 3l 0 3 1 0 ' +
  '1 3l 0 q 1 0 1 3l 0 3 1 0 1 5 1s 4d 1 0 1 3l 0 2p 1 0 1 3l 0 g 1x 0 6 5 2 6 1x 2 8 5 0 1k 1x 0 g 5 0 ' +
  '2 1x 0 4 5 0 6 1x 0 2 5 2 g 1x 0 8 5 0 8 1x 0 g 5 0 d 1x 1 1 1x 3 6 5 0 5 1x 3 c 1x 4 d 1x 5 6 5 0 2 ' +
  '1x 0 3 5 38 1 3l d 1 3l g 4 3l 0 1 1 0 8 3l 2t 1 3k 7 5 3k 1 4 3k 1 1 3k 3 5 3k 6 1 3k 1 1 5 1 1 3k ' +
  '1 2 1 0 6 3k 0 1 1 0 2 3k 4 1 3k 3 1 3k 7 5 3k 4 1 1 h c p 0 4 3l 0 c p 0 4 3l 0 9 1 4a 1 3k 4 1 3k ' +
  '1 1 3k 3d 1 3k s 1 3k 1 1 3k 1n 1 3k 37 2 3k 5 1 3k 3m 1 3k ad 1 3k h1 1 3k 9d 2 3k 76 1 3k fk s 1 0 ' +
  '2 3l 0 2 1 0 5 b 0 1 23 0 8 b 0 1 23 0 3 b 0 1 23 0 1 b 0 2 23 0 2 b 0 1 23 0 1 b 0 1 23 0 3 b 0 2 ' +
  '23 0 2 b 0 5 23 0 1 b 0 1 23 0 3 b 0 1 23 0 z b 0 1 23 0 k b 6 9 b 9 1 b 2 1a 4 2 8 m 0 2 2e 0 l m 0 ' +
  '1 2e 0 4 m 0 2 2e 0 7 m 0 1 2e 0 i m g 2n t fa 1 w 1 1 2o p 9 w e 4 w qs 534 w 1s g74 w y8 5 26 0 1 ' +
  'e 0 2 26 0 1 e 0 2 26 0 1 e 0 2 26 0 1 e 0 5 26 0 2 e 0 2 26 0 2 e 0 3 26 0 1 e 0 1 26 0 1 e 0 1 26 ' +
  '0 1 e 0 3 26 0 9 e 8y 7 3 0 1 1v 0 13 3 g v 3 2 1r 7 0 1 1z 0 f 7 0 1 1z 1e 6 1 0 1 3l 0 7 1 0 e 3l ' +
  '0 g 1 0 2 3l 0 a 1 0 1 3l 0 f 1 0 1 3l 0 3 1 0 1 3l 0 8 1 0 1 3l 0 g 1 3 d 1 0 2 3l 0 5 1 0 1 3l 0 b ' +
  '1 0 1 3l 0 3 1 0 1 3l 0 2 1 0 3 3l 0 14 1 k 4 3l 0 b 1 6q 6 s 3 1 s 1 2 s 69 v 11 2p n 11 3 6 11 3l ' +
  '1a t 1 2 1 0 1 3l 0 2 1 0 1 3l 0 7 1 0 1 3l 0 9 1 0 2 3l 0 5 1 0 1 3l 0 3 1 0 1 3l 0 7 1 0 1 3l 1 7 ' +
  '1 0 1 3l 0 1 1 0 1 5 0 4 1 6 5 a 0 1 22 0 b a 0 1 22 0 1 a 0 1 22 0 f a 0 1 22 0 l a 0 2 22 0 4 a 0 ' +
  '1 22 0 6 a 0 1 22 0 9 a f9c d6 w 12 7 3l c 5 2 5 c x 1 b x 0 1 2p 0 1 x 1 1 2p 0 8 x 0 1 2p 1 8 x 0 ' +
  '1 2p 0 4 x 0 2e q 0 8 2i 0 4 q x a3 q i 1s q 2 1i q 14 c q 38 t q 0 2 2i 0 2i q 0 4 2i 0 g q 6j 1 3k ' +
  '9j 1l 5 h 2 5 6s 2 f 0 1 27 0 3 f 0 2 27 0 2 f 0 1 27 0 5 f 0 1 27 0 1 f 0 1 27 0 2 f 0 3 27 0 5 f 3 ' +
  '3 21 0 2 9 0 1 21 0 5 9 0 1 21 0 4 9 0 3 21 0 1 9 0 1 21 0 q 9 0 1 21 0 1 9 10 1 3k a 1 j 0 2 2b 0 6 ' +
  'j 0 1 2b 0 7 j 0 1 2b 0 3 j 0 1 2b 0 1 j 0 1 2b 0 8 j 0 1 2b 0 1 j 0 1 2b 0 d j 5s 4 c 0 1 24 0 g c ' +
  '0 1 24 0 5 c 0 1 24 0 4 c 0 1 24 0 b c 0 1 24 0 g c 0 1 24 0 a c 0 1 24 0 7 c 2o 4 k 0 1 2c 0 d k 0 ' +
  '1 2c 0 b k 0 1 2c 0 r k 0 1 2c 0 b k 0 1 2c 0 5 k 4 j d 0 1 25 0 2 d 0 1 25 0 1 d 0 1 25 0 3 d 0 2 ' +
  '25 0 7 d 0 3 25 go 11 1 0 1 3l 0 l 1 1b9 v q 1v 6 q 14o 1y n 1 1 n 8 1 2f 0 9 n dy k 11 s 6 6 0 1 1y ' +
  '0 3 6 0 1 1y 0 3 6 0 2 1y 0 18 6 4 7 6 9l 1 2g 0 1 o 0 3 2g 0 1 o 0 1 2g 0 2 o 0 1 2g 0 4 o 0 1 2g 0 ' +
  '3 o 0 1 2g 0 2 o 0 1 2g 0 2 o 0 1 2g 0 3 o 0 1 2g 0 3 o 0 5 2g 0 3 o 0 1 2g 0 e o 0 2 2g 0 3 o 0 1 ' +
  '2g 0 3 o 0 1 2g 0 4 o 0 2 2g 0 2 o 0 1 2g 0 2 o 0 1 2g 0 2 o 0 1 2g 0 2 o 0 1 2g c 1 o c0 g 8 z4 1 e ' +
  'f l 13 e97 ft 7 xz 8 h 0 1 29 0 1 h 0 1 29 0 b h 0 1 29 0 h h 0 1 29 0 c h 0 1 29 0 4 h 0 1 29 0 5 h ' +
  '0 1 29 0 1 h 0 2 29 0 2k h 1v k w icf 10 3k zw 1 3k 6 1 3k 4 2 3k 2 1 3k j 1 3k d1 it 3k 3 2 3k 2 3 ' +
  '3k 1 2 3k 1 2 3k 1 1 3k 1 1 3k 2 2 3k 1 1 3k 3 1 3k 1 1 3k 5 2 3k 2 1 3k 1 1 3k 1 1 3k 1 1 3k 1 1 3k ' +
  '7 1 3k 1 1 3k 1 2 3k 2 3 3k 1 2 3k 1 2 3k 1 1 3k 1 1 3k 2 2 3k 1 1 3k 3 1 3k 1 1 3k 5 2 3k 2 1 3k 1 ' +
  '1 3k 1 1 3k 1 1 3k 1 1 3k 7 1 3k 1 1 3k 1 2 3k 2 3 3k 1 2 3k 1 2 3k 1 1 3k 1 1 3k 2 2 3k 1 1 3k 3 1 ' +
  '3k 1 1 3k 5 2 3k 2 1 3k 1 1 3k 1 1 3k 1 1 3k 1 1 3k 7 1 3k 1 1 3k 1 2 3k 2 3 3k 1 2 3k 1 2 3k 1 1 3k ' +
  '1 1 3k 2 2 3k 1 1 3k 3 1 3k 1 1 3k 5 2 3k 2 1 3k 1 1 3k 1 1 3k 1 1 3k 1 1 3k 7 1 3k 1 1 3k 1 2 3k 2 ' +
  '3 3k 1 2 3k 1 2 3k 1 1 3k 1 1 3k 2 2 3k 1 1 3k 3 1 3k 1 1 3k 5 2 3k 2 1 3k 1 1 3k 1 1 3k 1 1 3k 1 1 ' +
  '3k 7 1 3k 1 1 3k 1 1 3k 3 1e 3k 1ds 17 1 79 1q 3 1gy v t 1 5h g 2 1 28 0 3 g 0 1 28 0 4 g 10w 1 2i 0 ' +
  'y q 1 1 2i 2 1o q 1 1 2i 2 o q 1 1 2i 0 3 q 0 1 2i 0 1j q 1ow 1 3k r 1 3k w7 a 3k'
