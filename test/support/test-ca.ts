import { isIP } from 'node:net';
import { generate } from 'selfsigned';

const DAY_MS = 86_400_000;

export interface Certificate {
  key: string;
  cert: string;
}

/** A throw-away certificate authority for local https receivers. */
export class TestCa {
  private constructor(private readonly root: Certificate) {}

  static async create(): Promise<TestCa> {
    const pems = await generate([{ name: 'commonName', value: 'Test CA' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
      ],
    });
    return new TestCa({ key: pems.private, cert: pems.cert });
  }

  /** Certificate of the authority itself, to be trusted. */
  get pem(): string {
    return this.root.cert;
  }

  /** Issues a server certificate for these names and addresses. */
  issue(hosts: string[], { expired = false } = {}): Promise<Certificate> {
    return serverCertificate(hosts, expired, this.root);
  }

  /** Makes a certificate that no authority has signed. */
  static selfSigned(hosts: string[]): Promise<Certificate> {
    return serverCertificate(hosts, false);
  }
}

async function serverCertificate(hosts: string[], expired: boolean, ca?: Certificate): Promise<Certificate> {
  const notBefore = Date.now() - (expired ? 10 : 1) * DAY_MS;
  const pems = await generate([{ name: 'commonName', value: hosts[0] ?? 'receiver' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(notBefore),
    notAfterDate: new Date(notBefore + (expired ? 5 : 30) * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false },
      {
        name: 'subjectAltName',
        altNames: hosts.map((host) => (isIP(host) ? { type: 7, ip: host } : { type: 2, value: host })),
      },
    ],
    ca,
  });
  return { key: pems.private, cert: pems.cert };
}
