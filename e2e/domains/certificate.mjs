// Certificates that the test makes itself, with openssl: for the directory of Pebble and for certificate files of an operator.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A CA of its own and a certificate for `names` (host names or `IP:…`), in `dir`. Gives the paths. */
export async function makeCertificate(dir, prefix, names) {
  const at = (name) => path.join(dir, `${prefix}-${name}.pem`);
  const files = { caFile: at('ca'), certificate: at('certificate'), privateKey: at('key') };
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3650'];
  await run('openssl', [...request, '-keyout', at('ca-key'), '-out', files.caFile, '-subj', `/CN=${prefix} test CA`]);
  const alternatives = names.map((name) => (name.startsWith('IP:') ? name : `DNS:${name}`)).join(',');
  await run('openssl', [
    ...[...request, '-CA', files.caFile, '-CAkey', at('ca-key'), '-keyout', files.privateKey, '-out', files.certificate],
    ...['-subj', `/CN=${prefix}`, '-addext', `subjectAltName=${alternatives}`, '-addext', 'basicConstraints=critical,CA:FALSE'],
  ]);
  return files;
}
