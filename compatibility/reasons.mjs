// Why an output may differ under the strict policy, in the words of docs/compatibility.md, and what shows that this is the
// reason: `violation` is found among the policy violations that the browser reports ("directive blocked-address").
// `console` matches the errors that come with the reason.

export const OTHER_HOSTS = {
  note: 'The strict policy loads nothing from other hosts, so fonts, scripts and map tiles from a CDN are missing.',
  violation: /^(script|style)-src-elem https?:/,
  console: /^Loading the (script|stylesheet) 'https?:[^']*' violates the following Content Security Policy directive/,
};
export const EVAL = {
  note: 'The strict policy forbids `eval` and `new Function`, which the output needs.',
  violation: /^script-src eval$/,
  console: /^EvalError: Evaluating a string as JavaScript violates the following Content Security Policy directive/,
};
export const HANDLERS = {
  note: 'The strict policy blocks inline event handlers (`onclick=…`).',
  violation: /^script-src-attr inline$/,
  console: /^Executing inline event handler violates the following Content Security Policy directive/,
};
