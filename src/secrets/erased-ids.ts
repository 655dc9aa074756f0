import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config';

const KEY_BYTES = 32;
/** Name of the purpose from which keys are derived, so that these keys serve nothing else. */
const KEY_PURPOSE = 'erased provider ids';
const PREFIX = 'erased:';

/**
 * Makes ids that replace the providers' ids of erased messages, because some providers' ids contain the
 * customer's phone number or account. A number can be guessed, but a guess can be compared with a new id only
 * with a configured key. With the key, the service recognises an erased message that a provider sends again,
 * and ignores it. The first configured key makes the ids; every configured key recognises them.
 */
@Injectable()
export class ErasedIds {
  private readonly keys: Uint8Array[];

  constructor({ secretsKeys }: Config) {
    this.keys = secretsKeys.map(
      ({ key }) => new Uint8Array(hkdfSync('sha256', key, '', KEY_PURPOSE, KEY_BYTES)),
    );
  }

  static isErased(providerId: string): boolean {
    return providerId.startsWith(PREFIX);
  }

  substitute(connectionId: string, providerId: string): string {
    return digest(this.keys[0]!, connectionId, providerId);
  }

  /** Returns the provider's ids, and all ids by which `substitute` may have replaced them. */
  addSubstitutes(connectionId: string, providerIds: string[]): string[] {
    const erased = providerIds.flatMap((id) => this.keys.map((key) => digest(key, connectionId, id)));
    return [...providerIds, ...erased];
  }
}

function digest(key: Uint8Array, connectionId: string, providerId: string): string {
  return PREFIX + createHmac('sha256', key).update(`${connectionId} ${providerId}`).digest('base64url');
}
