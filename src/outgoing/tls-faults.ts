import { Fault, makeFault } from '../common/error-texts';

/** Error codes of Node and OpenSSL, and the faults that they mean. The spelling differs between versions. */
const MEANINGS = [
  [/NO_APPLICATION_PROTOCOL$/, 'tls_no_http1'],
  [/PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$|WRONG_SSL_VERSION$/, 'tls_too_old'],
  [/WRONG_VERSION_NUMBER$|PACKET_LENGTH_TOO_LONG$|HTTP_REQUEST$|RECORD_LAYER_FAILURE$/, 'tls_not_spoken'],
  [/CERTIFICATE_REQUIRED$|ALERT_(BAD|UNKNOWN)_CERTIFICATE$/, 'tls_certificate_asked'],
  [/HANDSHAKE_FAILURE$/, 'tls_refused'],
  [/UNRECOGNIZED_NAME$/, 'tls_name_unknown'],
  [/^CERT_HAS_EXPIRED$/, 'cert_expired'],
  [/^CERT_NOT_YET_VALID$/, 'cert_not_yet_valid'],
  [/SELF_SIGNED_CERT/, 'cert_self_signed'],
  [/^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/, 'cert_untrusted'],
  [/ALTNAME_INVALID$/, 'cert_other_name'],
  [/^(ECONNRESET|EPIPE)$/, 'tls_hung_up'],
] as const;

/** Largest number of characters of a library's text that are added to our own message. */
const MAX_DETAIL_LENGTH = 150;

/** Returns a TLS failure as a fault that the workspace's people read, with the library's own text. */
export function tlsFault(error: Error): Fault {
  const meaning = MEANINGS.find(([codes]) => codes.test(codeOf(error)));
  return makeFault(meaning?.[1] ?? 'tls_failed', { detail: detailOf(error) });
}

/** Returns a library's own text without control characters, because PostgreSQL rejects NULs. */
export function detailOf(error: Error): string {
  const isOpenSsl = codeOf(error).startsWith('ERR_SSL_');
  const { reason } = error as { reason?: string };
  const text = (isOpenSsl && reason) || error.message;
  return text
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .slice(0, MAX_DETAIL_LENGTH)
    .trim();
}

export function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.name;
}
