import { mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';

const DNS_NAME = 2;
const IP_ADDRESS = 7;

/**
 * Files of a throw-away certificate authority and a server's certificate.
 *
 * @typedef {{ caFile: string, certFile: string, keyFile: string }} Certificates
 */

/**
 * Makes a throw-away certificate authority and a server certificate.
 *
 * @param {string} directory gets `ca.pem`, `cert.pem` and `key.pem`
 * @param {[string, ...string[]]} hosts the certificate's names and addresses
 * @returns {Promise<Certificates>}
 */
export async function makeCertificates(directory, hosts) {
  const common = /** @type {const} */ ({ keyType: 'ec', curve: 'P-256', algorithm: 'sha256' });
  const ca = await generate([{ name: 'commonName', value: 'Throw-away authority' }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const server = await generate([{ name: 'commonName', value: hosts[0] }], {
    ...common,
    ca: { key: ca.private, cert: ca.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: hosts.map((host) =>
          isIP(host) ? { type: IP_ADDRESS, ip: host } : { type: DNS_NAME, value: host },
        ),
      },
    ],
  });
  mkdirSync(directory, { recursive: true });
  /**
   * @param {string} name
   * @param {string} pem
   */
  const write = (name, pem) => {
    const file = join(directory, name);
    writeFileSync(file, pem, { mode: 0o600 });
    return file;
  };
  return {
    caFile: write('ca.pem', ca.cert),
    certFile: write('cert.pem', server.cert),
    keyFile: write('key.pem', server.private),
  };
}
