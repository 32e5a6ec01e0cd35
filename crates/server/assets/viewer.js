// Opens the payload with the key behind the # and puts the page in the place of this one. Format: docs/security.md.
(() => {
  'use strict';
  const say = (text) => (document.getElementById('status').textContent = text);
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const payload = bytes(document.getElementById('payload').textContent.trim());
  const framed = String.fromCharCode(...payload.slice(0, 4)) === 'E2E1';
  const secret = () => bytes(new URLSearchParams(location.hash.slice(1)).get('k') ?? '');

  async function open(passphrase) {
    const key = secret();
    const [header, iv, body] = framed
      ? [payload.slice(0, 40), payload.slice(28, 40), payload.slice(40)]
      : [new Uint8Array(), payload.slice(0, 12), payload.slice(12)];
    let raw = key;
    if (framed && payload[4] === 1) {
      const words = new TextEncoder().encode(passphrase);
      const both = new Uint8Array([...words, ...key]);
      const base = await crypto.subtle.importKey('raw', both, 'PBKDF2', false, ['deriveBits']);
      const iterations = new DataView(payload.buffer).getUint32(8);
      raw = await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: payload.slice(12, 28), iterations }, base, 256);
    }
    const aes = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['decrypt']);
    let plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData: header }, aes, body);
    if (framed && payload[5] & 1) plain = await new Response(new Blob([plain]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
    const html = new TextDecoder().decode(plain);
    // While this page is still being read, what is written would only be added to it.
    if (document.readyState !== 'complete') await new Promise((done) => addEventListener('load', done));
    document.open();
    document.write(html);
    document.close();
  }

  if (!location.hash.includes('k=')) return void say('The key is missing: the address must end with #k=…');
  if (!framed || payload[4] === 0) return void open('').catch(() => say('The key does not fit this page.'));
  const form = document.getElementById('ask');
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    open(document.getElementById('passphrase').value).catch(() => say('That passphrase does not open it.'));
  });
})();
