// Caddy as the load balancer in front of the nodes: it asks each node's /readyz and sends requests to those that answer 200.
// A request is tried on another node only when no connection could be made, as a careful operator would configure it.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { request } from '../e2e/http.mjs';
import { ROOT } from '../e2e/server.mjs';
import { PORT } from './nodes.mjs';
import { makePart, untilWorks } from './part.mjs';

const CADDY = path.join(ROOT, '.test/venv/bin/caddy');

/** Makes the proxy without starting it, because the nodes need to know its address. */
export async function makeProxy(network, folder) {
  const file = path.join(folder, 'Caddyfile');
  const home = path.join(folder, 'caddy');
  const part = await makePart(network, folder, 'proxy', {
    command: () => [CADDY, 'run', '--config', file, '--adapter', 'caddyfile'],
    env: { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
  });
  part.port = PORT;
  part.host = `${part.address}:${PORT}`;
  part.url = `http://${part.host}`;
  part.siteUrl = part.url;
  part.open = async (nodes) => {
    await writeFile(file, caddyfile(part, nodes));
    part.start();
    await untilWorks(part, 'the proxy to reach a node', async () => {
      const answer = await request(part, { path: '/readyz', timeout: 5_000 }).catch(() => undefined);
      return answer?.status === 200;
    });
  };
  return part;
}

const caddyfile = (part, nodes) => `{
	admin off
	auto_https off
	persist_config off
	skip_install_trust
}
:${PORT} {
	bind ${part.address}
	reverse_proxy ${nodes.map((node) => `${node.address}:${PORT}`).join(' ')} {
		lb_policy round_robin
		lb_try_duration 5s
		lb_try_interval 50ms
		health_uri /readyz
		health_interval 500ms
		health_timeout 2s
		health_headers {
			Host ${part.host}
		}
		transport http {
			dial_timeout 1s
		}
	}
}
`;
