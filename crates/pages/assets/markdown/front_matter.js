// The front matter of a document: its title, its language and its direction. Everything else in it belongs to other tools.

const FENCE_LINE = /^---[ \t]*$/;
const END_LINE = /^(?:---|\.\.\.)[ \t]*$/;
const MOST_LINES = 1000;
const LONGEST_TITLE = 200;

/** `{ title, language, direction, rest }`; all but the rest may be undefined. */
export function splitFrontMatter(source) {
  const lines = source.split('\n', MOST_LINES + 1).map((line) => line.replace(/\r$/, ''));
  if (!FENCE_LINE.test(lines[0] ?? '') || (lines[1] ?? '').trim() === '') return { rest: source };
  const end = lines.findIndex((line, at) => at > 0 && END_LINE.test(line));
  if (end < 2) return { rest: source };
  const found = { rest: source.split('\n').slice(end + 1).join('\n') };
  for (const line of lines.slice(1, end)) readField(line, found);
  return found;
}

function readField(line, found) {
  const colon = line.indexOf(':');
  if (colon < 0) return;
  const value = line.slice(colon + 1).split(' #', 1)[0].trim().replace(/^["']+/, '').replace(/["']{1,9}$/, '');
  switch (line.slice(0, colon)) {
    case 'lang': case 'language':
      if (value.length <= 35 && /^[a-zA-Z]{2,8}(?:-[a-zA-Z0-9]{1,8})*$/.test(value)) found.language = value;
      break;
    case 'title':
      if (value) found.title = value.slice(0, LONGEST_TITLE);
      break;
    case 'dir':
      if (value === 'ltr' || value === 'rtl') found.direction = value;
      break;
    default:
  }
}
