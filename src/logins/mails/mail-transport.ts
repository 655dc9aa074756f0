import { parseAddress, unmapped } from '../../common/network';

const TIMEOUT_MS = 10_000;

/**
 * Returns nodemailer's options for a mail server. Mails are sent encrypted, because a link is as good as a
 * password: a server without STARTTLS gets none, unless it is this machine or the URL says
 * `?requireTLS=false`.
 */
export function transportOptions(smtpUrl: string) {
  return {
    url: smtpUrl,
    requireTLS: !isThisMachine(new URL(smtpUrl).hostname),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
  };
}

function isThisMachine(host: string): boolean {
  const address = parseAddress(host.replace(/^\[|\]$/g, ''));
  return address ? unmapped(address).range() === 'loopback' : host === 'localhost';
}
