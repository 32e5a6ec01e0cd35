// Runs action.yml the way GitHub's runner runs a composite action: inputs with their defaults, expressions, conditions,
// outputs of steps, and the files and variables of the environment. Knows only the expressions that our action uses and
// fails on any other.

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../server.mjs';

const PYTHON = path.join(ROOT, '.test/venv/bin/python');

/** A YAML file as GitHub reads it. */
export async function yaml(file) {
  const program = 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1], encoding="utf-8")), sys.stdout)';
  return JSON.parse((await promisify(execFile)(PYTHON, ['-c', program, path.join(ROOT, file)])).stdout);
}

function evaluate(text, { inputs, steps, github }) {
  const known = (name) => {
    let parts;
    if ((parts = name.match(/^inputs\.([\w-]+)$/))) return inputs[parts[1]] ?? '';
    if ((parts = name.match(/^steps\.([\w-]+)\.outputs\.([\w-]+)$/))) return steps[parts[1]]?.[parts[2]] ?? '';
    if ((parts = name.match(/^github\.(\w+)$/))) return github[parts[1]] ?? '';
    throw new Error(`the test's runner does not know ${name}`);
  };
  const term = (part) => {
    const compared = part.match(/^([\w.-]+) != '([^']*)'$/);
    return compared ? known(compared[1]) !== compared[2] : known(part);
  };
  return text.replace(/\$\{\{ (.*?) \}\}/g, (_, inner) => {
    const parts = inner.split(' && ').map(term);
    return String(parts.length === 1 ? parts[0] : parts.every(Boolean));
  });
}

/**
 * Runs the action. `inputs` as in `with:`, `env` the variables GitHub sets, `event` the event's JSON, `token` the workflow's.
 * Gives {code, log, outputs, summary}.
 */
export async function runAction({ inputs = {}, env = {}, event = {}, token = 'ghs_workflow', workspace }) {
  const action = await yaml('action.yml');
  const temporary = await mkdtemp(path.join(os.tmpdir(), 'dropleaf-action-'));
  try {
    const context = { inputs: {}, steps: {}, github: { token } };
    for (const [name, { default: preset = '', required }] of Object.entries(action.inputs)) {
      if (required && !(name in inputs)) throw new Error(`the input ${name} is required`);
      context.inputs[name] = inputs[name] ?? evaluate(String(preset), context);
    }
    const unknown = Object.keys(inputs).filter((name) => !(name in action.inputs));
    if (unknown.length > 0) throw new Error(`the action has no input ${unknown}`);
    const file = async (name, text = '') => {
      await writeFile(path.join(temporary, name), text);
      return path.join(temporary, name);
    };
    const eventFile = await file('event.json', JSON.stringify(event));
    const summary = await file('summary.md');
    const result = { code: 0, log: '' };
    for (const [index, step] of action.runs.steps.entries()) {
      if (step.if && evaluate(step.if, context) !== 'true') continue;
      const output = await file(`output-${index}`);
      const variables = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, evaluate(value, context)]));
      const run = evaluate(step.run, context);
      const { code, log } = await bash(run, {
        PATH: process.env.PATH, HOME: temporary, GITHUB_ACTIONS: 'true', GITHUB_ACTION_PATH: ROOT, GITHUB_WORKSPACE: workspace,
        GITHUB_EVENT_PATH: eventFile, GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary, GITHUB_REPOSITORY: 'acme/site',
        GITHUB_RUN_ID: '77', GITHUB_RUN_ATTEMPT: '1', GITHUB_SHA: 'f'.repeat(40), DROPLEAF_ACTION_PAUSE: '0', ...env, ...variables,
      }, workspace);
      result.log += log;
      if (code !== 0) {
        result.code = code;
        break;
      }
      if (step.id) context.steps[step.id] = Object.fromEntries((await readFile(output, 'utf8')).split('\n').filter(Boolean).map(splitOnce));
    }
    result.outputs = Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, evaluate(value, context)]));
    result.summary = await readFile(summary, 'utf8');
    return result;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

const splitOnce = (line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)];

/** As the runner starts `shell: bash`. */
function bash(script, env, cwd) {
  const child = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', script], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  const keep = (chunk) => (log += chunk);
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, log }));
  });
}
