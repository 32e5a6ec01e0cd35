// Which addresses a page made from untrusted text may contain, and bare web addresses in running text. The same rules
// as for Markdown that the server renders (crates/content/src/sanitize/url.rs, markdown/autolink.rs).

const LINK_SCHEMES = new Set(['http', 'https', 'mailto']);
const PICTURE_DATA = /^data:image\/(?:png|jpeg|gif|webp)(?:;[^,]*)?,/i;
const BARE_START = /https:\/\/|http:\/\/|www\./g;
const BEFORE_BARE = /[ \t\n([*_~"]/;
const BARE_ADDRESS = /[^\s<>"`\x00-\x1f\x7f]+/y;
const SENTENCE_MARKS = ".,:;!?'*_~]";

/** The scheme as a browser reads it, which ignores white space and control characters; undefined for relative addresses. */
function schemeOf(address) {
  const visible = address.replace(/[\s\x00-\x1f\x7f-\x9f]/g, '');
  return /^([^:/\\?#]*):/.exec(visible)?.[1].toLowerCase();
}

export function isLinkAddress(address) {
  const scheme = schemeOf(address);
  return scheme === undefined || LINK_SCHEMES.has(scheme);
}

/** Pictures may also be inlined, in formats that cannot carry script. */
export function isPictureAddress(address) {
  const scheme = schemeOf(address);
  if (scheme === 'data') return PICTURE_DATA.test(address);
  return scheme === undefined || scheme === 'http' || scheme === 'https';
}

/** Splits text into pieces: `{ text, isAddress }`. */
export function splitAddresses(text) {
  const pieces = [];
  let done = 0;
  BARE_START.lastIndex = 0;
  for (let start = BARE_START.exec(text); start; start = BARE_START.exec(text)) {
    const at = start.index;
    if (at > 0 && !BEFORE_BARE.test(text[at - 1])) continue;
    BARE_ADDRESS.lastIndex = at;
    const address = withoutSentenceEnd(BARE_ADDRESS.exec(text)[0]);
    if (hasHost(address.slice(start[0].length))) {
      if (done < at) pieces.push({ text: text.slice(done, at), isAddress: false });
      pieces.push({ text: address, isAddress: true });
      done = at + address.length;
    }
    BARE_START.lastIndex = at + Math.max(address.length, 1);
  }
  if (done < text.length) pieces.push({ text: text.slice(done), isAddress: false });
  return pieces;
}

/** Without the punctuation of the sentence around it; a closing parenthesis stays if it was opened. */
function withoutSentenceEnd(address) {
  let unopened = 0;
  for (const char of address) unopened += char === ')' ? 1 : char === '(' ? -1 : 0;
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address[end - 1];
    if (last === ')' && unopened > 0) unopened -= 1;
    else if (!SENTENCE_MARKS.includes(last)) break;
  }
  return address.slice(0, end);
}

function hasHost(rest) {
  const host = rest.split(/[/?#:]/, 1)[0];
  return /^[\p{L}\p{N}][\p{L}\p{N}.-]*$/u.test(host) && (host.includes('.') || host === 'localhost');
}
