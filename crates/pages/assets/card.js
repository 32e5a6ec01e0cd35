// Fills the card form with a test card, and writes card numbers and dates as they are printed on cards. Without it, the
// test cards can be read and typed.
'use strict';

const form = document.querySelector('[data-card-form]');
const { number, expiry, cvc } = form.elements;
const pay = form.querySelector(':scope > button');

for (const button of document.querySelectorAll('[data-number]')) {
  button.hidden = false;
  button.addEventListener('click', () => {
    number.value = button.dataset.number;
    expiry.value = form.dataset.expiry;
    cvc.value = button.dataset.cvc;
    for (const field of [number, expiry, cvc]) field.removeAttribute('aria-invalid');
    for (const problem of form.querySelectorAll('.problem')) problem.hidden = true;
    pay.focus();
  });
}

/** The digits in groups: American Express prints 4, 6 and 5, the others 4 at a time. */
function grouped(digits) {
  const sizes = /^3[47]/.test(digits) ? [4, 6, 5] : [4, 4, 4, 4, 3];
  const groups = [];
  for (const size of sizes) {
    if (digits) groups.push(digits.slice(0, size));
    digits = digits.slice(size);
  }
  return groups.join(' ');
}

/** A month and a year, with the slash that a keyboard of digits does not have. */
function dated(text) {
  let digits = text.replace(/\D/g, '');
  if (/^[2-9]|^\d\s*\//.test(text)) digits = `0${digits}`;
  return digits.length < 2 ? digits : `${digits.slice(0, 2)} / ${digits.slice(2, 6)}`;
}

/** Rewrites what is typed at the end of a field. Corrections inside it are left alone, and so are deletions. */
function rewrite(field, write) {
  field.addEventListener('input', ({ inputType }) => {
    if (inputType?.startsWith('delete') || field.selectionStart !== field.value.length) return;
    field.value = write(field.value);
  });
}
rewrite(number, (text) => grouped(text.replace(/\D/g, '')));
rewrite(expiry, dated);
expiry.inputMode = 'numeric';
