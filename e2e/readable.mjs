// Whether a designed page can be read: contrast and width.

import assert from 'node:assert/strict';

/** Runs in the page: what a reader would trip over. */
export function examine() {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
  };
  const contrasts = [...document.querySelectorAll('h1, p, a, li, b, small, code, button, label, legend, input, textarea')].map((element) => {
    const [light, dark] = [luminance(rgb(getComputedStyle(element).color)), luminance(background(element))].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  });
  return {
    lang: document.documentElement.lang,
    title: document.title,
    headings: document.querySelectorAll('h1').length,
    viewport: document.querySelector('meta[name=viewport]')?.content ?? '',
    overflow: document.documentElement.scrollWidth - innerWidth,
    contrast: Math.min(...contrasts),
    background: background(document.body).slice(0, 3).join(),
  };
}

export function assertReadable({ overflow, contrast }, view) {
  assert.ok(overflow <= 0, `${view}: ${overflow} px too wide`);
  assert.ok(contrast >= 4.5, `${view}: contrast ${contrast.toFixed(2)}`);
}
