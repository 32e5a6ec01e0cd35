// Blocks that hold other blocks: quotations, lists with their items, and footnotes.

/** Whether a line goes on with an open block; consumes what belongs to the block. */
export const CONTINUES = {
  list: () => true,
  quote(block, line, number) {
    if (line.indent > 3 || line.char !== '>') return false;
    skipQuoteMark(line);
    block.end = number;
    return true;
  },
  item(block, line) {
    if (line.blank ? block.children.length === 0 : line.indent < block.offset) return false;
    line.skipColumns(block.offset);
    return true;
  },
  footnote(block, line) {
    if (!line.blank && line.indent < 4) return false;
    line.skipColumns(4);
    return true;
  },
};

/** The mark and the one space that belongs to it. */
export function skipQuoteMark(line) {
  line.skipText(1);
  if (line.indent > 0) line.skipColumns(1);
}

/** Whether blank lines stand between the items of a list, or between the blocks of one. */
export function isLoose(list) {
  const hasGap = (blocks) => blocks.some((block, at) => at > 0 && block.start > blocks[at - 1].end + 1);
  return hasGap(list.children) || list.children.some((item) => hasGap(item.children));
}
