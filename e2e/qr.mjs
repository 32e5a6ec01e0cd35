// Reads QR codes with a decoder that is not ours: from a picture, and from the block characters of a terminal.

import jsqr from 'jsqr';

const SCALE = 4;
const MARGIN = 4;

/** The text in a code, or null. `light(x, y)` says whether a module is light. */
function decode(width, height, light) {
  const [w, h] = [width * SCALE, height * SCALE];
  const pixels = new Uint8ClampedArray(w * h * 4).fill(255);
  for (let y = 0; y < h; y += 1) {
    for (let x = 0; x < w; x += 1) {
      const value = light(Math.floor(x / SCALE), Math.floor(y / SCALE)) ? 255 : 0;
      pixels.fill(value, (y * w + x) * 4, (y * w + x) * 4 + 3);
    }
  }
  return jsqr(pixels, w, h)?.data ?? null;
}

/** The text in a code of half blocks, as a terminal with a dark background shows it. What surrounds it is light here. */
export function readBlocks(text) {
  const lines = text.split('\n').filter(Boolean).map((line) => [...line]);
  const width = Math.max(...lines.map((line) => line.length));
  const light = (x, y) => {
    const block = lines[Math.floor(y / 2)]?.[x];
    if (block === undefined) return true;
    return block === '█' || block === (y % 2 ? '▄' : '▀');
  };
  return decode(width + 2 * MARGIN, lines.length * 2 + 2 * MARGIN, (x, y) => light(x - MARGIN, y - MARGIN));
}

/** The text in a picture (PNG bytes); the browser of `page`, which must have no policy, unpacks it. */
export async function readPicture(page, png) {
  const { width, height, data } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    canvas.drawImage(bitmap, 0, 0);
    const image = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
    return { width: image.width, height: image.height, data: [...image.data] };
  }, png.toString('base64'));
  return jsqr(Uint8ClampedArray.from(data), width, height)?.data ?? null;
}
