// A workbook turned into HTML by SheetJS.

export default {
  title: 'Workbook as HTML (SheetJS)',
  node: { xlsx: '0.18.5' },
  files: {
    'make.cjs': `const XLSX = require('xlsx');
const book = XLSX.utils.book_new();
XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet([['Month', 'Sum'], ['May', 12.5], ['June', 7]]), 'Year');
XLSX.writeFile(book, 'book.xlsx');
`,
  },
  run: ['node make.cjs', 'node -e "const X=require(\'xlsx\');const b=X.readFile(\'book.xlsx\');X.writeFile(b,\'book.html\')"'],
  output: 'book.html',
  check: (page) => page.locator('table tr').nth(2).waitFor(),
};
