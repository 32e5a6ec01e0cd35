// A page worth commenting on, and comments on it, for the tests of the toolbar and their pictures.

export const DEMO = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Orchard report</title>
<style>
  body { margin: 0; font: 17px/1.6 Georgia, "Liberation Serif", serif; color: #222; background: #fbfaf7; }
  main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 9rem; }
  h1 { font-size: 2.3rem; line-height: 1.15; margin: 0 0 .5rem; }
  .figures { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.75rem 0; font-family: "Liberation Sans", sans-serif; }
  .figure { flex: 1 1 9rem; padding: 1rem 1.25rem; border: 1px solid #ddd6c8; border-radius: 10px; background: #fff; }
  .figure b { display: block; font-size: 1.7rem; }
  table { width: 100%; border-collapse: collapse; margin: 1.5rem 0; font-family: "Liberation Sans", sans-serif; font-size: .95rem; }
  td, th { padding: .55rem .4rem; border-bottom: 1px solid #ddd6c8; text-align: left; }
  button { padding: .7rem 1.3rem; border: 0; border-radius: 8px; background: #7a2e1d; color: #fff; font: 600 1rem "Liberation Sans", sans-serif; }
  @media (prefers-color-scheme: dark) { body { background: #16140f; color: #e8e2d6; } .figure { background: #1f1c16; border-color: #3a3427; } td, th { border-color: #3a3427; } }
</style></head><body><main>
<h1>Orchard report, autumn</h1>
<p class="lead">Three weeks of picking are behind us, and the cold store is nearly full.</p>
<div class="figures">
  <div class="figure"><b>1,284</b> crates picked</div>
  <div class="figure"><b>96 %</b> first quality</div>
  <div class="figure"><b>11</b> days left</div>
</div>
<h2 id="summary">What happened</h2>
<p>Frost came early on the north slope, so the pears were taken in a week before the plan. Losses stayed below two in a hundred.</p>
<table><thead><tr><th>Field</th><th>Fruit</th><th>Crates</th></tr></thead><tbody>
<tr><td>North slope</td><td>Pears</td><td>412</td></tr><tr><td>Mill lane</td><td>Apples</td><td>698</td></tr><tr><td>Orchard wall</td><td>Quinces</td><td>138</td></tr>
</tbody></table>
<p>The presses run from Thursday. Who wants juice of their own fruit names the number of crates until Wednesday noon.</p>
<p><button id="order" class="primary" type="button">Order juice</button></p>
</main></body></html>`;

export const COMMENTS = (root, at = Math.floor(Date.now() / 1000)) => [
  { id: 'fb_a', comment: 'The table adds up to 1,248 crates. One of the two numbers is wrong.', element: 'div.figure "1,284 crates picked"', element_path: 'body > main > div > div:nth-of-type(1)', selected_text: null, page_url: root, intent: 'fix', severity: 'blocking', created_at: at - 7400 },
  { id: 'fb_b', comment: 'Is that measured, or an estimate?', element: 'p', element_path: 'body > main > p:nth-of-type(2)', selected_text: 'Losses stayed below two in a hundred', page_url: `${root}?from=mail`, intent: 'question', severity: 'important', created_at: at - 3700 },
  { id: 'fb_c', comment: 'Say by when the juice can be fetched.', element: 'button#order.primary "Order juice"', element_path: '#order', selected_text: null, page_url: root, intent: 'change', severity: 'suggestion', created_at: at - 1300 },
  { id: 'fb_d', comment: 'The photograph of the old wall was lovely, please keep it.', element: 'img.wall "The old wall"', element_path: 'body > main > img:nth-of-type(1)', selected_text: null, page_url: root, intent: 'approve', severity: null, created_at: at - 600 },
  { id: 'fb_e', comment: 'Add the prices of last year.', element: null, element_path: null, selected_text: null, page_url: `${root}prices.html`, intent: 'change', severity: 'suggestion', created_at: at - 300 },
];
