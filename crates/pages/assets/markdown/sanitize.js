// Copies what is allowed out of an inert document, node by node. Nothing else reaches the page: every element is created
// by its listed name, and every attribute is set by its listed name with a checked value.

import { allowedName, allowedValue, losesContent } from './allowed.js';

const HTML_NAMESPACE = 'http://www.w3.org/1999/xhtml';
/** Deeper than anything that the renderer writes. */
const DEEPEST_NODE = 1000;
/** Markup of the renderer itself, beside what authors may write. */
const OWN_ELEMENTS = new Set(['label', 'section']);
const OWN_CLASSES = /^(?:markdown-alert-(?:note|tip|important|warning|caution)|alert|table|task|unseen|fn|back|footnotes)$/;
const OWN_ATTRIBUTES = {
  class: (value) => OWN_CLASSES.test(value),
  'data-lang': (value) => /^[a-zA-Z0-9+#_.-]{1,20}$/.test(value),
  role: (value) => value === 'group',
  tabindex: (value) => value === '0',
};

/** Appends copies of the allowed nodes inside of `source` to `target`. */
export function copyAllowed(source, target, depth = 0) {
  for (const node of source.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) target.append(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || node.namespaceURI !== HTML_NAMESPACE || depth > DEEPEST_NODE) continue;
    const name = node.localName;
    if (losesContent(name)) continue;
    if (name === 'input') {
      if (source.localName === 'label') target.append(checkbox(node.hasAttribute('checked')));
      continue;
    }
    const allowed = OWN_ELEMENTS.has(name) ? name : allowedName(name);
    const copy = allowed ? target.ownerDocument.createElement(allowed) : target;
    if (allowed) copyAttributes(node, copy);
    copyAllowed(node, copy, depth + 1);
    if (allowed) target.append(copy);
  }
}

function checkbox(isDone) {
  return Object.assign(document.createElement('input'), { type: 'checkbox', disabled: true, defaultChecked: isDone });
}

function copyAttributes(source, copy) {
  for (const { name, value } of source.attributes) {
    const isOwn = Object.hasOwn(OWN_ATTRIBUTES, name) && OWN_ATTRIBUTES[name](value);
    const allowed = isOwn ? value : allowedValue(copy.localName, name, value);
    if (allowed !== undefined && !namesFileBeside(copy.localName, name, allowed)) copy.setAttribute(name, allowed);
  }
}

/** No file lies beside an encrypted page, and a request for one would tell the server a part of the text. */
function namesFileBeside(element, name, value) {
  if (name === 'src') return isBeside(value);
  return name === 'srcset' && value.split(',').some((candidate) => isBeside(candidate.trim().split(/\s/, 1)[0]));
}

/** Whether the browser would look for the address on the host of the page, whatever its scheme is. */
function isBeside(address) {
  return ['https:', 'http:'].some((scheme) => {
    try {
      return new URL(address, `${scheme}//page.invalid/`).hostname === 'page.invalid';
    } catch {
      return true;
    }
  });
}
