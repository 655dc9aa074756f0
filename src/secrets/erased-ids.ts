import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config';

const KEY_BYTES = 32;
/** Derives a separate key, so that it serves nothing else. */
const KEY_PURPOSE = 'erased provider ids';
const PREFIX = 'erased:';

/**
 * What stands in the place of a provider's id of an erased message. The ids of some providers hold the customer's phone
 * number or account, and guessing those is cheap; without a configured key nobody can compare them with these. The
 * service can: a provider that repeats an erased message does not bring it back. The first configured key makes them; all
 * of them recognize.
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

  of(connectionId: string, providerId: string): string {
    return digest(this.keys[0]!, connectionId, providerId);
  }

  /** The ids, and what may stand in their place. */
  with(connectionId: string, providerIds: string[]): string[] {
    const erased = providerIds.flatMap((id) => this.keys.map((key) => digest(key, connectionId, id)));
    return [...providerIds, ...erased];
  }
}

function digest(key: Uint8Array, connectionId: string, providerId: string): string {
  return PREFIX + createHmac('sha256', key).update(`${connectionId} ${providerId}`).digest('base64url');
}
