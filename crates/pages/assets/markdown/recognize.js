// Tells Markdown from other text. Nothing in an encrypted payload says what it is, so its marks decide; readers can
// switch between both forms.

/** Marks that other kinds of text hardly have. */
const STRONG = [
  // A heading with nothing directly below it; other `#` begin a comment.
  /^#{1,6} \S.*(?:\n[ \t]*\n|\n*(?![\s\S]))/m,
  /^ {0,3}(?:```|~~~)/m,
  // Not `handlers[name](event)`.
  /(?:^|[^\w)\]])\[[^\][\n]{1,200}\]\([^()\s]{1,500}(?: "[^"\n]{0,200}")?\)/m,
  // Not `f(**a, **b)`, `a**2 + b**2` or `**/folder/**`.
  /\*\*[^\s*/](?:[^*\n]{0,200}[^\s*])?\*\*(?!\w)/,
  /^ {0,3}\|?[ \t]*:?-{2,}:?[ \t]*\|/m,
  /^ {0,3}[-*+] \[[ xX]\] \S/m,
  /^ {0,3}> \[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/m,
  /^[^\s#>|{}[\]-][^\n{};]{0,200}\n={3,}[ \t]*$/m,
  /^\[[^\]\n]{1,200}\]: \S/m,
];
/** Marks that make Markdown only together. */
const WEAK = [
  // Neither `- name: value` nor ` * a line of a comment`.
  /^(?: {0,3}[-+]|\*) (?!\w[\w.-]*:(?:\s|$))\S/m,
  /^ {0,3}\d{1,9}[.)] \S/m,
  /^ {0,3}> \S/m,
  /(?:^|\s)([*_])[^\s*_),](?:[^*_\n]{0,200}[^\s*_(])?\1(?=[\s.,;:!?)]|$)/m,
  /`[^`\n]{1,200}`/,
  /^#{2,6} \S.*\n[-*+] (?!\w[\w.-]*:(?:\s|$))\S/m,
];
const READ = 64 * 1024;
const HTML_DOCUMENT = /<(?:!doctype|html|head|body|title|meta|link|base|script|style|form|iframe)[\s/>]/i;

const count = (marks, text) => marks.filter((mark) => mark.test(text)).length;

function isJson(text) {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a text is to be shown as Markdown. One that begins with a tag has to say so twice, and to be no document of HTML. */
export function isMarkdown(text) {
  const start = text.slice(0, READ).replace(/\r\n?/g, '\n');
  const strong = count(STRONG, start);
  if (/^\s*<[a-z!?/]/i.test(start)) return strong >= 2 && !HTML_DOCUMENT.test(withoutCode(start));
  if (/^#!|^\s*<\?/.test(start) || isJson(text)) return false;
  return strong > 0 || count(WEAK, start) >= 2;
}

/** Code may show whatever it likes. */
const withoutCode = (text) => text.replace(/^ {0,3}(```|~~~)[\s\S]*?^ {0,3}\1/gm, '').replace(/`[^`\n]*`/g, '');
