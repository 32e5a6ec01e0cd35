// A button on every block of code that copies it. Without it the page is whole.
for (const pre of document.querySelectorAll('pre:not(.plain, .result)')) {
  const box = document.createElement('div');
  const button = document.createElement('button');
  box.className = 'code';
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  pre.replaceWith(box);
  box.append(pre, button);
  button.addEventListener('click', async () => {
    const code = pre.querySelector('code') || pre;
    let copied = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Where the page may not use the clipboard itself, the browser can copy a selection.
      getSelection().selectAllChildren(code);
      copied = document.execCommand('copy');
    }
    button.textContent = copied ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
}
