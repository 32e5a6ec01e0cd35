// `scripts/cluster up`: a cluster to try things out. Prints its addresses and reads the names of faults, until Ctrl-C.

import readline from 'node:readline';
import { startCluster } from './cluster.mjs';

console.log('starting; this takes about 15 seconds');
const cluster = await startCluster();

console.log(`
proxy     ${cluster.proxyUrl}
API key   ${cluster.apiKey}
${cluster.nodes.map((node) => `${node.name}     ${node.url} (with the header Host: ${node.host})`).join('\n')}
${cluster.database.members.map((member) => `${member.name}       ${member.address}:5432, Patroni http://${member.address}:8008/cluster`).join('\n')}
etcd      ${cluster.etcd.address}:2379
S3        ${cluster.s3.endpoint}
database  ${cluster.database.url()}
logs      ${cluster.folder}/*.log

curl -H 'Authorization: Bearer ${cluster.apiKey}' -F file=@index.html ${cluster.proxyUrl}/sites
`);
help();

const input = readline.createInterface({ input: process.stdin, output: process.stdout, prompt: 'cluster> ' });
input.prompt();
for await (const line of input) {
  const [verb, name] = line.trim().split(/\s+/);
  try {
    await obey(verb, name);
  } catch (error) {
    console.error(error.message);
  }
  input.prompt();
}
// Without a terminal the input ends at once; the cluster stays until a signal.
if (!process.stdin.isTTY) await new Promise(() => setInterval(() => {}, 1 << 30));
await cluster.stop();
process.exit();

async function obey(verb, name) {
  if (verb === '') return;
  if (verb === 'faults') for (const fault of cluster.faults) console.log(`  ${fault.name.padEnd(26)} ${fault.what}`);
  else if (verb === 'leader') console.log((await cluster.database.leader()).name);
  else if (verb === 'inject') await timed(() => cluster.fault(name).inject());
  else if (verb === 'heal' && name) await timed(() => cluster.fault(name).heal());
  else if (verb === 'heal') await timed(async () => { for (const fault of cluster.faults) await fault.heal(); });
  else help();
}

async function timed(step) {
  const start = performance.now();
  await step();
  console.log(`done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

function help() {
  console.log('faults: list them · inject NAME · heal NAME · heal: all of them · leader · Ctrl-C: stop and remove everything');
}
