// The network of a page: its own server answers, every other host is played by the suite. A host that is asked without a
// Referer refuses, as map tile servers and video players do.

import { typeOf } from './reference.mjs';

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');

const isOurs = (url) => url.hostname === 'localhost' || url.hostname.endsWith('.localhost');

/** Answers what a context asks other hosts for with the fixture's own copies; pictures are one pixel, the rest is 404. */
export async function playOtherHosts(context, { outside }) {
  await context.route(
    (url) => /^https?:$/.test(url.protocol) && !isOurs(url),
    async (route) => {
      const request = route.request();
      const kept = outside.get(request.url());
      const headers = { 'access-control-allow-origin': '*' };
      if (kept) await route.fulfill({ status: 200, headers, contentType: typeOf(new URL(request.url()).pathname), body: kept });
      else if (request.resourceType() === 'image') await route.fulfill(await picture(request, headers));
      else await route.fulfill({ status: 404, headers, body: '' });
    },
  );
}

async function picture(request, headers) {
  const { referer } = await request.allHeaders();
  return referer ? { status: 200, headers, contentType: 'image/png', body: PIXEL } : { status: 403, headers, body: '' };
}
