// The HTML page of Python's own pydoc.

export default {
  title: 'pydoc',
  files: { 'abacus.py': '"""Counting with beads."""\n\n\ndef add(a: int, b: int) -> int:\n    """Slide two rows together."""\n    return a + b\n' },
  run: ['python3 -m pydoc -w abacus', "sed -i 's#<a href=\"file:[^\"]*\">[^<]*</a>#abacus.py#' abacus.html"],
  output: 'abacus.html',
  check: (page) => page.getByText('Slide two rows together.').waitFor(),
};
