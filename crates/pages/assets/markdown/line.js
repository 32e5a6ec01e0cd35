// One line of Markdown while the block parser consumes it from the left. Tabs count as up to four columns, and a block
// may consume a part of one.

export class Line {
  constructor(text) {
    this.text = text;
    /** Where the part begins that is not consumed yet, and its column. */
    this.at = 0;
    this.column = 0;
    /** Columns left of a tab that was consumed in part. */
    this.spare = 0;
    this.measure();
  }

  /** Finds the first character that is no space: `next` is its place, `indent` the columns before it. */
  measure() {
    let column = this.column + this.spare;
    let at = this.at;
    for (; at < this.text.length; at += 1) {
      if (this.text[at] === ' ') column += 1;
      else if (this.text[at] === '\t') column += 4 - (column % 4);
      else break;
    }
    this.next = at;
    this.indent = column - this.column;
    this.blank = at >= this.text.length;
  }

  /** Consumes white space of this many columns. */
  skipColumns(columns) {
    let left = columns;
    while (left > 0) {
      if (this.spare === 0) {
        const char = this.text[this.at];
        if (char !== ' ' && char !== '\t') break;
        this.spare = char === ' ' ? 1 : 4 - (this.column % 4);
        this.at += 1;
      }
      const taken = Math.min(left, this.spare);
      this.spare -= taken;
      this.column += taken;
      left -= taken;
    }
    this.measure();
  }

  /** Consumes white space and then this many other characters. */
  skipText(characters) {
    this.column += this.indent + characters;
    this.at = this.next + characters;
    this.spare = 0;
    this.measure();
  }

  /** Whether the expression (sticky) matches at the first character that is no space. */
  match(expression) {
    expression.lastIndex = this.next;
    return expression.exec(this.text);
  }

  get char() {
    return this.text[this.next];
  }

  /** What is not consumed, with its white space. */
  rest() {
    return ' '.repeat(this.spare) + this.text.slice(this.at);
  }

  /** What is not consumed, without the white space before it. */
  content() {
    return this.text.slice(this.next);
  }
}
