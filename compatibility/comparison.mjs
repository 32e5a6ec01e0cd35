// Tells in which respects a page differs from its reference, and holds that against what the catalogue declares.

import { isDeepStrictEqual } from 'node:util';
import { sleep } from '../e2e/server.mjs';

/** As many lines of one aspect are told; a page that lacks its scripts has hundreds. */
const MOST_LINES = 8;
const POLL_MS = 50;
const QUIET_POLL_MS = 100;
/** A page that is to look like its reference has this long for it. */
const PATIENCE_MS = 30_000;
/** A reference is complete when nothing has changed for so long. */
const QUIET_MS = 700;

/** Looks until nothing changes any more: for the reference, of which nobody knows how it will look. */
export async function lookUntilQuiet(observation) {
  let seen = await observation.look();
  let since = Date.now();
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end && Date.now() - since < QUIET_MS; ) {
    await sleep(QUIET_POLL_MS);
    const now = await observation.look();
    if (!isDeepStrictEqual(now, seen)) [seen, since] = [now, Date.now()];
  }
  return seen;
}

/**
 * Looks until `problemsOf` finds none in what is seen, twice in a row and without a change in between, or until it is clear
 * that this will not happen. Gives the problems that are left.
 */
export async function lookUntilRight(observation, problemsOf) {
  let seen;
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(POLL_MS)) {
    const now = await observation.look();
    const problems = problemsOf(now);
    const isSettled = problems.length === 0 && isDeepStrictEqual(now, seen);
    if (isSettled || Date.now() > end) return problems;
    seen = now;
  }
}

/** What is wrong with a page as it opens: every difference that is not declared, and every declared one that is not there. */
export function problemsAtFirst(seen, reference, declared = {}) {
  return [
    ...problemsOfText(seen.text, declared.text ?? reference.text),
    ...problemsOfLines('requests', differentRequests(seen.requests, reference.requests), declared.requests),
    ...problemsOfConsole(seen, reference, declared),
    // What an output lacks from the beginning has a reason from the beginning.
    ...(declared.text === undefined ? [] : problemsOfReason(seen, declared.because)),
  ];
}

/** What is wrong after the output was used. */
export function problemsAtLast(seen, reference, declared = {}) {
  const shared = [...problemsOfConsole(seen, reference, declared), ...problemsOfReason(seen, declared.because)];
  // Of an output that could not be used as in the reference, only the errors that this caused are compared.
  if (declared.check) return shared;
  return [
    ...problemsOfText(seen.text, reference.text),
    ...problemsOfLines('requests', differentRequests(seen.requests, reference.requests), declared.requests),
    ...shared,
  ];
}

function problemsOfText(seen, expected) {
  return seen === expected ? [] : [`text: ${describeText(seen, expected)}`];
}

/** Errors that the reference does not have, apart from those that come with the declared reason. */
function problemsOfConsole(seen, reference, { because, console }) {
  const errors = [...seen.errors].filter((error) => !reference.errors.has(error) && !because?.console.test(error));
  return problemsOfLines('console', errors, console);
}

/** Lines without a pattern that declares them, and patterns without a line. */
function problemsOfLines(aspect, lines, patterns = []) {
  const undeclared = lines.filter((line) => !patterns.some((pattern) => pattern.test(line)));
  const missing = patterns.filter((pattern) => !lines.some((line) => pattern.test(line)));
  return [
    ...undeclared.slice(0, MOST_LINES).map((line) => `${aspect}: ${line}`),
    ...missing.map((pattern) => `${aspect}: nothing fits ${pattern}, although it is declared`),
  ];
}

/** Whether the browser says that the declared reason is the reason. */
function problemsOfReason({ violations }, because) {
  if (!because || [...violations].some((violation) => because.violation.test(violation))) return [];
  return [`reason: nothing fits ${because.violation} among ${JSON.stringify([...violations].slice(0, MOST_LINES))}`];
}

function differentRequests(seen, reference) {
  const names = [...new Set([...seen.keys(), ...reference.keys()])];
  return names
    .filter((name) => seen.get(name) !== reference.get(name))
    .map((name) => `${name}: ${seen.get(name) ?? 'not requested'} instead of ${reference.get(name) ?? 'not requested'}`);
}

function describeText(seen, expected) {
  let at = 0;
  while (at < seen.length && seen[at] === expected[at]) at += 1;
  const from = Math.max(0, at - 30);
  return `"…${seen.slice(from, at + 80)}" instead of "…${expected.slice(from, at + 80)}"`;
}

/** What is wrong with the answer to the upload and with the cookies of its viewer. */
export function problemsOfUpload(found, expected) {
  const different = ['cookies', 'spa'].filter((field) => !isDeepStrictEqual(found[field], expected[field]));
  const lines = problemsOfLines('warnings', found.warnings, expected.warnings);
  if (lines.length === 0 && found.warnings.length > expected.warnings.length) {
    lines.push(`warnings: ${JSON.stringify(found.warnings)}, of which several fit one expression`);
  }
  return [...different.map((field) => `${field}: ${JSON.stringify(found[field])} instead of ${JSON.stringify(expected[field])}`), ...lines];
}
