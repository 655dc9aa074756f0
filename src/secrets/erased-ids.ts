import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config';

const KEY_BYTES = 32;
/** Purpose under which a separate key is derived, so that the key serves nothing else. */
const KEY_PURPOSE = 'erased provider ids';
const PREFIX = 'erased:';

/**
 * Makes the ids that replace the provider's ids of erased messages. Some providers' ids contain the
 * customer's phone number or account, which is easy to guess; without a configured key, guesses cannot be
 * compared with these ids. The service can compare: a provider that repeats an erased message does not bring
 * it back. The first configured key makes the ids; every key recognizes them.
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

  /** Returns the provider's ids together with the ids that may stand in their place. */
  addSubstitutes(connectionId: string, providerIds: string[]): string[] {
    const erased = providerIds.flatMap((id) => this.keys.map((key) => digest(key, connectionId, id)));
    return [...providerIds, ...erased];
  }
}

function digest(key: Uint8Array, connectionId: string, providerId: string): string {
  return PREFIX + createHmac('sha256', key).update(`${connectionId} ${providerId}`).digest('base64url');
}
