// curl, as a client that verifies certificates by itself.

import { execFile } from 'node:child_process';

/**
 * Requests an address that leads to `port` of `address` on this machine, whatever its host is, and trusts only `root`.
 * Gives `{ exit, status, version, text, headers }`; curl's exit code is 0 when the certificate was accepted and an answer came.
 */
export function curl(url, { port, address = '127.0.0.1', root, args = [] }) {
  const { hostname, protocol } = new URL(url);
  const from = protocol === 'https:' ? 443 : 80;
  const written = '%{stderr}%{http_code} %{http_version} %{ssl_verify_result}';
  const command = [
    ...['--silent', '--max-time', '60', '--include', '--noproxy', '*', '--connect-to', `${hostname}:${from}:${address}:${port}`],
    ...['--write-out', written, ...(root ? ['--cacert', root] : []), ...args, url],
  ];
  return new Promise((resolve) => {
    execFile('curl', command, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const [status, version] = stderr.trim().split('\n').at(-1).split(' ');
      const end = stdout.indexOf('\r\n\r\n');
      const headers = Object.fromEntries(
        stdout.slice(0, end).split('\r\n').slice(1).map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
      resolve({ exit: error?.code ?? 0, status: Number(status), version, headers, text: stdout.slice(end + 4) });
    });
  });
}
