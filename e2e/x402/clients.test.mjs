// The official clients of x402, of both generations, on both chains and in two languages, each buying all there is to
// buy: with real settlement on chains that run here, and against the sandbox that the server comes with.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { python, solana1, solana2, typescript1, typescript2 } from './clients.mjs';
import { provision, publishJson, publishRaw } from './walk.mjs';
import { SETTINGS, startWorld } from './world.mjs';

const CLIENTS = [
  ['the TypeScript client of generation 2', typescript2, SETTINGS],
  ['the TypeScript client of generation 1', typescript1, SETTINGS],
  ['the TypeScript client of generation 2 on Solana', solana2, SETTINGS],
  ['the TypeScript client of generation 1 on Solana', solana1, ['live']],
  ['the Python client', python, SETTINGS],
];

for (const setting of SETTINGS) {
  describe(setting, () => {
    let world;
    before(async () => (world = await startWorld(setting)));
    after(async () => world?.stop());

    for (const [name, start, settings] of CLIENTS) {
      if (!settings.includes(setting)) continue;
      test(`${setting}: ${name} pays for two pages and a key`, async () => {
        const client = await start(world);
        try {
          const first = await publishJson(world, client, `By ${name}`);
          const second = await publishRaw(world, client, `By ${name}, as it is`);
          assert.notEqual(first.url, second.url);
          await provision(world, client);
        } finally {
          await client.stop();
        }
      });
    }
  });
}
