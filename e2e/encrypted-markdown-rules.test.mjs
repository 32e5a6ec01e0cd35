// The Markdown renderer of the viewer by itself: the rules that are easy to get wrong, what counts as Markdown, and how its
// work grows with its input.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { isMarkdown } from '../crates/pages/assets/markdown/recognize.js';
import { renderMarkdown } from '../crates/pages/assets/markdown/render.js';
import { markdownModules } from './imitation.mjs';

const NAMED = new Map(
  (await readFile(new URL('../crates/core/assets/character_references.txt', import.meta.url), 'utf8'))
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split(' '))
    .map(([name, ...codes]) => [name.replace(';', ''), String.fromCodePoint(...codes.map((code) => Number.parseInt(code, 16)))]),
);
const render = (source) => renderMarkdown(source, (name) => NAMED.get(name));
/** Line breaks between tags say nothing. */
const html = (source) => render(source).html.replace(/>\n+/g, '>').replace(/\n+<(?!\/code)/g, '<').trim();

const CASES = {
  'emphasis by delimiter runs': [
    ['*a*b_c_ _d_', '<p><em>a</em>b_c_ <em>d</em></p>'],
    ['*a _b* c_', '<p><em>a _b</em> c_</p>'],
    ['***a** b*', '<p><em><strong>a</strong> b</em></p>'],
    ['*a **b***', '<p><em>a <strong>b</strong></em></p>'],
    ['****a****', '<p><strong><strong>a</strong></strong></p>'],
    ['*a**b**c*', '<p><em>a<strong>b</strong>c</em></p>'],
    ['**a*', '<p>*<em>a</em></p>'],
    ['* a *', '<ul><li>a *</li></ul>'],
    ['a*"b"*', '<p>a*&quot;b&quot;*</p>'],
    ['_a_b_', '<p><em>a_b</em></p>'],
    ['*a [b*](c)', '<p>*a <a href="c">b*</a></p>'],
    ['*a `b*`', '<p>*a <code>b*</code></p>'],
    ['**«a»**b', '<p>**«a»**b</p>'],
    ['~a~ ~~b~~ ~~~c~~~ ~d~~', '<p><del>a</del> <del>b</del> ~~~c~~~ ~d~~</p>'],
  ],
  'code spans': [
    ['`` a`b ``', '<p><code>a`b</code></p>'],
    ['`a``b`', '<p><code>a``b</code></p>'],
    ['`` ` `', '<p>`` <code> </code></p>'],
    ['`a\nb`', '<p><code>a b</code></p>'],
    ['\\`a`', '<p>`a`</p>'],
    ['`\\`a`', '<p><code>\\</code>a`</p>'],
    ['`` ` ``', '<p><code>`</code></p>'],
  ],
  'links and pictures': [
    ['[a](b "c")', '<p><a href="b" title="c">a</a></p>'],
    ['[a](<b c>)', '<p><a href="b c">a</a></p>'],
    ['[a](b(c)d)', '<p><a href="b(c)d">a</a></p>'],
    ['[a](b c)', '<p>[a](b c)</p>'],
    ['[a [b](c) d](e)', '<p>[a <a href="c">b</a> d](e)</p>'],
    ['[![a *b*](c)](d)', '<p><a href="d"><img src="c" alt="a b"></a></p>'],
    ['![a [b](c)](d)', '<p><img src="d" alt="a b"></p>'],
    ['[a][b] [b][] [b] [c]\n\n[B]: /x "y"', '<p><a href="/x" title="y">a</a> <a href="/x" title="y">b</a> <a href="/x" title="y">b</a> [c]</p>'],
    ['[a]: /x\n"not a title" b\n\n[a]', '<p>&quot;not a title&quot; b</p><p><a href="/x">a</a></p>'],
    ['[a]:\n /x\n "title\n goes on"\n\n[a]', '<p><a href="/x" title="title\ngoes on">a</a></p>'],
    ['[a][[b]]\n\n[b]: x', '<p>[a][<a href="x">b</a>]</p>'],
    ['[a](javascript:b) ![c](data:text/html,d)', '<p>a c</p>'],
    ['[a](&#106;avascript&colon;b)', '<p>a</p>'],
    ['<https://a.example?b=c&d> <a@b.example>', '<p><a href="https://a.example?b=c&amp;d">https://a.example?b=c&amp;d</a> <a href="mailto:a@b.example">a@b.example</a></p>'],
    ['(see www.a.example/b_c_d). xhttps://a.b', '<p>(see <a href="https://www.a.example/b_c_d">www.a.example/b_c_d</a>). xhttps://a.b</p>'],
    ['[https://a.example](b)', '<p><a href="b">https://a.example</a></p>'],
  ],
  'blocks': [
    ['a\n===\n\nb\nc\n---', '<h1>a</h1><h2>b\nc</h2>'],
    ['# a #\n## b#\n#c\n####### d', '<h1>a</h1><h2>b#</h2><p>#c\n####### d</p>'],
    ['> a\nb\n> c\n\nd', '<blockquote><p>a\nb\nc</p></blockquote><p>d</p>'],
    ['> ```\n> a\nb', '<blockquote><pre tabindex="0"><code>a\n</code></pre></blockquote><p>b</p>'],
    ['a\n    b', '<p>a\nb</p>'],
    ['    a\n\n\n      b\n\nc', '<pre tabindex="0"><code>a\n\n\n  b\n</code></pre><p>c</p>'],
    ['\ta\n  \tb', '<pre tabindex="0"><code>a\nb\n</code></pre>'],
    ['````md\n```\n````\n~~~\na', '<pre data-lang="md" tabindex="0"><code>```\n</code></pre><pre tabindex="0"><code>a\n</code></pre>'],
    ['* * *\n_____\n- - x', '<hr><hr><ul><li><ul><li>x</li></ul></li></ul>'],
    ['a  \nb\\\nc\nd', '<p>a<br>b<br>c\nd</p>'],
    ['&amp;&copy;&nope;&#35;&#x22; \\&amp;', '<p>&amp;©&amp;nope;#&quot; &amp;amp;</p>'],
  ],
  'lists': [
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['- a\n\n- b', '<ul><li><p>a</p></li><li><p>b</p></li></ul>'],
    ['- a\n  - b\n\n    c\n- d', '<ul><li>a<ul><li><p>b</p><p>c</p></li></ul></li><li>d</li></ul>'],
    ['- a\n+ b\n1. c\n2) d', '<ul><li>a</li></ul><ul><li>b</li></ul><ol><li>c</li></ol><ol start="2"><li>d</li></ol>'],
    ['a\n2. b\n1. c', '<p>a\n2. b</p><ol><li>c</li></ol>'],
    ['-\n  a\n-\n\n  b', '<ul><li>a</li><li></li></ul><p>b</p>'],
    ['1.  a\n\n        b', '<ol><li><p>a</p><pre tabindex="0"><code>b\n</code></pre></li></ol>'],
    ['- a\n\tb\n-\tc', '<ul><li>a\nb</li><li>c</li></ul>'],
    ['- ```\n  a\n\n  ```\n- b', '<ul><li><pre tabindex="0"><code>a\n\n</code></pre></li><li>b</li></ul>'],
    ['- [x] a\n- [ ] b\n- [x]c', '<ul><li><label class="task"><input type="checkbox" disabled checked>a</label></li><li><label class="task"><input type="checkbox" disabled>b</label></li><li>[x]c</li></ul>'],
  ],
  'tables': [
    ['|a|b|\n|:-|-:|\n|c\\|d|`e\\|f`|\n|g\n\nh', '<div class="table" role="group" aria-label="a, b" tabindex="0"><table><thead><tr><th align="left">a</th><th align="right">b</th></tr></thead><tbody><tr><td align="left">c|d</td><td align="right"><code>e|f</code></td></tr><tr><td align="left">g</td><td align="right"></td></tr></tbody></table></div><p>h</p>'],
    ['a|b\n-|-\n> c', '<div class="table" role="group" aria-label="a, b" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead></table></div><blockquote><p>c</p></blockquote>'],
    ['|a|b|\n|-|', '<p>|a|b|\n|-|</p>'],
  ],
  'HTML': [
    ['<div align=center>\n\n*a*\n\n</div>', '<div align="center"><p><em>a</em></p></div>'],
    ['a <b>b</b> <blink>c</blink> <!-- d --> <kbd>e', '<p>a <b>b</b> c  <kbd>e</kbd></p>'],
    ['*a <b>b* c</b>', '<p><em>a <b>b</b></em> c</p>'],
    ['<script>\n\na\n</script>\nb <style>c</style> d', '<p>b  d</p>'],
    ['<p>a\n\nb', '<p>a</p><p>b</p>'],
    ['- <div>\n- a', '<ul><li><div></div></li><li>a</li></ul>'],
  ],
  'GitHub\'s additions': [
    ['> [!warning]\n> a', '<blockquote class="markdown-alert-warning"><p class="alert">Warning</p><p>a</p></blockquote>'],
    ['> [!WARNING] a', '<blockquote><p>[!WARNING] a</p></blockquote>'],
    ['a[^x] b[^y] c[^x]\n\n[^x]: d\n    e', '<p>a<sup class="fn"><a href="#fn:1" id="fnref:1">1</a></sup> b[^y] c<sup class="fn"><a href="#fn:1">1</a></sup></p><section class="footnotes"><ol><li id="fn:1" value="1"><p>d\ne</p> <a class="back" href="#fnref:1" aria-label="Back to the text">↩</a></li></ol></section>'],
    ['---\ntitle: x\n---\na', '<p>a</p>'],
    ['$a_1*b*c$ costs $5 and $6', '<p><code>$a_1*b*c$</code> costs $5 and $6</p>'],
  ],
};

describe('what the renderer makes of', () => {
  for (const [name, cases] of Object.entries(CASES)) {
    test(name, () => {
      for (const [source, expected] of cases) assert.equal(html(source), expected, source);
    });
  }

  test('front matter: title, language and direction', () => {
    const { title, language, direction } = render('---\ntitle: "A: b" # c\nlang: ar-EG\ndir: rtl\n---\nx');
    assert.deepEqual({ title, language, direction }, { title: 'A: b', language: 'ar-EG', direction: 'rtl' });
    assert.equal(render('---\nlang: de"onload=x\n---\n').language, undefined);
  });
});

/** Text with signs that also mean something in Markdown. */
const OTHER = [
  'apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: web\n    image: nginx\n---\nkind: List\nitems:\n- name: x\n',
  'def f(a, kw):\n    return g(**a, **kw)\n',
  'area = a**2 + b**2\nf(**a,**kw)\n',
  'on("message", (event) => handlers[name](event));\n',
  'echo one\n## comment\necho two\n',
  '**/node_modules/**\n',
  '/**\n * Adds.\n */\nconst add = (a, b) => `${a + b}`;\n',
];

describe('a text is taken for', () => {
  test('Markdown by its marks', () => {
    for (const text of ['# Title', 'Title\n=====\n\nText', 'a [link](https://a.example) b', '- [ ] task', '```\ncode\n```', '| a | b |\n|---|---|\n', '1. one\n2. *two*', '<p align="center">x</p>\n\n# Title\n\n```html\n<script>\n```\n', '<!-- comment -->\n\n## A\n\n**b**', '# Title\n\ntext', '## Title\n\ntext', '## To do\n- one\n- two', '- [ ] one\n- [x] two', '**Note:** read this', 'see ([link](a.html))']) {
      assert.ok(isMarkdown(text), text);
    }
  });

  test('something else without them', () => {
    for (const text of ['plain words', '12:01 pressed\n12:04 cleaned', 'a,b\n1,2', '{"a": ["# b", "**c**"]}', '#!/bin/sh\n## x\n', '# comment\nimport os\n', 'key: value\nlist:\n  - a\n', '<p>hi</p>', '<!doctype html><h1>x</h1>\n## y\n**z**\n', '<div>\n## a\n**b**\n<script>x</script></div>', '', ...OTHER]) {
      assert.ok(!isMarkdown(text), text);
    }
  });
});

/** The renderer with a counter in the condition of every loop: `steps(source)` is the same on every machine. */
async function countingRenderer() {
  const counted = (await markdownModules())
    .replace(/\bwhile \(/g, 'while (++work.steps && ')
    .replace(/\bfor \(([^;()]*(?:\([^()]*\))?[^;()]*); (?=[^;])/g, 'for ($1; ++work.steps && ')
    .replace(/\bfor \(;;\) \{/g, 'for (; ++work.steps; ) {');
  const work = { steps: 0 };
  const counting = new Function('work', `'use strict';\n${counted}\nreturn renderMarkdown;`)(work);
  return (source) => {
    work.steps = 0;
    assertEnds(() => counting(source, () => undefined));
    return work.steps;
  };
}

/** Renders; only a document that grows too much may be refused. */
function assertEnds(act) {
  try {
    act();
  } catch (error) {
    assert.match(error.message, /grows too much/, error.stack);
  }
}

test('work grows with the length of hostile text, and no faster', async () => {
  const units = ['[', '![', '[a](', '[a](<', '[a](b "', "[a](b '", '[a][', '](', '`', '``` ', '*', '_', '**a ', '*a_b ', 'a**b', '~', '~a~~b', '<', '<a ', '<a b="', "<a b='c' ", '<!--', '<?', '<![CDATA[', '&', '&#', '\\', '$', '$$', '$a ', '> ', '>', '- ', '1. ', '* a\n', '  - a\n', '#', '# a\n', '```\n', '    a\n', '\t', ' ', '|', '|a|b|\n|-|-|\n', '|a\n', '[a]: b "c\n', "[a]: b 'c\n", '[^a]: b\n', '[^a]', '<div>\n', '<div>\n\n', '<b>', '<b>\n\na\n\n', '<p>', '<table><tr><td>', '</b>', '<script>', 'https://', 'www.a)', 'http://a.b/((', '---\n', 'a\n===\n', '> - ', '\r', '\0'];
  const steps = await countingRenderer();
  for (const unit of units) {
    const [small, large] = [8 * 1024, 32 * 1024].map((size) => steps(unit.repeat(size / unit.length)));
    assert.ok(small > 0 && large <= 4.5 * small + 100, `${JSON.stringify(unit)}: ${small} steps become ${large}`);
  }
  const wide = `${'|a'.repeat(500)}|\n${'|-'.repeat(500)}|\n`;
  assert.throws(() => render(wide + '|\n'.repeat(400_000)), RangeError);
  for (const unit of units) assertEnds(() => render(unit.repeat((1 << 17) / unit.length)));
});
