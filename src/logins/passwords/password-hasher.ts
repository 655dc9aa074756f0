import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { networkOf } from '../../http/connections/client-network';
import { Origin } from '../../access/principal';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { normalizePassword } from './password-policy';

/**
 * Cost of a hash, with the memory in KiB: the first choice of OWASP's password storage cheat sheet (2026).
 * The package's default algorithm is argon2id.
 */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };
/**
 * Hash that no password has. It is checked for unknown addresses, so that they take as long as known ones.
 */
const DUMMY =
  '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

type Argon2 = typeof import('@node-rs/argon2');

/** Hashes passwords, a few at a time. The networks of waiting clients are served in turn. */
@Injectable()
export class PasswordHasher {
  constructor(private readonly budgets: WorkBudgets) {}

  /**
   * Hashes a password.
   * @throws AppError RATE_LIMITED: too many passwords of the client's network are hashed at once;
   *   UNAVAILABLE: too many are hashed in this process, or argon2 is not installed
   */
  hash(password: string, origin?: Origin): Promise<string> {
    return this.withArgon2(origin, (argon2) => argon2.hash(normalizePassword(password), COST));
  }

  /**
   * Compares a password with a hash. It takes the same time whether there is a hash or not.
   * @param hash null for an unknown person
   * @throws AppError as `hash`
   */
  async verify(hash: string | null, password: string, origin?: Origin): Promise<boolean> {
    const plain = normalizePassword(password);
    const isRight = await this.withArgon2(origin, (argon2) => argon2.verify(hash ?? DUMMY, plain));
    return isRight && hash !== null;
  }

  private async withArgon2<T>(origin: Origin | undefined, work: (argon2: Argon2) => Promise<T>): Promise<T> {
    const argon2 = await load();
    const network = origin?.address === undefined ? 'unknown' : networkOf(origin.address);
    // The request gives its slot of `requests` back while it waits for hashing, because strangers can make
    // this wait long.
    this.budgets.releaseSlot();
    const release = await this.budgets.acquire('passwords', network);
    const result = await work(argon2).finally(release);
    await this.budgets.reacquireSlot();
    return result;
  }
}

/** Loads argon2 at its first use, because the service must start without its optional native part. */
async function load(): Promise<Argon2> {
  try {
    return await import('@node-rs/argon2');
  } catch (cause) {
    const message =
      "Passwords can't be hashed here: the native part of @node-rs/argon2, an optional package, is not installed.";
    throw Object.assign(new AppError('UNAVAILABLE', message), { cause });
  }
}
