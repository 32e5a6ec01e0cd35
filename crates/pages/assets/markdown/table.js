// Tables: rows are split at the pipes that are not escaped, also inside of code.

const ALIGNMENTS = { '-': '', ':-': 'left', '-:': 'right', ':-:': 'center' };

/** The cells of a row. */
export function splitRow(row) {
  const text = row.trim();
  const cells = [];
  let from = text[0] === '|' ? 1 : 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '|') {
      cells.push(text.slice(from, at));
      from = at + 1;
    }
  }
  if (from < text.length) cells.push(text.slice(from));
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** The alignment of each column, if this line is the one under the head of a table. */
export function alignments(line) {
  if (!/^[\s|:-]+$/.test(line) || !line.includes('-')) return undefined;
  const cells = splitRow(line);
  const found = cells.map((cell) => ALIGNMENTS[cell.replace(/-+/g, '-')]);
  return found.length > 0 && found.every((alignment) => alignment !== undefined) ? found : undefined;
}

/** A table whose head is the last line of a paragraph; undefined if the line under it does not fit. */
export function tableStart(head, line) {
  if (!head.includes('|')) return undefined;
  const columns = alignments(line);
  if (!columns) return undefined;
  const cells = splitRow(head);
  return cells.length === columns.length ? { columns, head: cells } : undefined;
}

/** The cells of a row of the body: as many as the table has columns. */
export function bodyRow(line, columns) {
  const cells = splitRow(line).slice(0, columns.length);
  while (cells.length < columns.length) cells.push('');
  return cells;
}
