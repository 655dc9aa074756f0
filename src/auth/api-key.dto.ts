import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  MinDate,
  ValidateBy,
} from 'class-validator';
import { EndpointOfKey } from '../access/key-revocations';
import { isExactNetwork } from '../common/network';
import { type Scope, SCOPES } from '../access/permissions';
import { IsMoment, IsStorableText, MaxCharacters, NotBlank, TrimUnseen } from '../common/validators';
import { ApiKeyEntity } from './api-key.entity';

const MAX_NETWORKS = 50;
const MAX_UNUSED_DAYS = 3_650;

const IsNetwork = () =>
  ValidateBy(
    {
      name: 'isNetwork',
      validator: {
        validate: (network) => typeof network === 'string' && isExactNetwork(network),
        defaultMessage: () =>
          'must be networks such as 203.0.113.0/24 or 2001:db8::/32, with no bits set behind the prefix',
      },
    },
    { each: true },
  );

export class CreateApiKey {
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name: string;

  @ArrayUnique({ message: 'must not name a scope twice' })
  @IsIn(SCOPES, { each: true, message: `must be among ${SCOPES.join(', ')}` })
  @ArrayNotEmpty({ message: 'must name at least one scope' })
  scopes: Scope[];

  /**
   * Time at which the key expires. The default is the end of the longest life that the operator allows;
   * without such a limit, the key never expires.
   */
  @IsOptional()
  @MinDate(() => new Date(), { message: 'must be in the future' })
  @IsMoment()
  expiresAt?: Date;

  /** Networks (CIDR, IPv4 and IPv6) from which the key may be used, at most 50; all by default. */
  @IsOptional()
  @ArrayMaxSize(MAX_NETWORKS, { message: `must be at most ${MAX_NETWORKS} networks` })
  @ArrayUnique({ message: 'must not name a network twice' })
  @IsNetwork()
  @ArrayNotEmpty({ message: 'must name at least one network' })
  @TrimUnseen()
  allowedNetworks?: string[];
}

export const REVOCATION_REASONS = ['LEAKED', 'REPLACED'] as const;
export type RevocationReason = (typeof REVOCATION_REASONS)[number];

/** Revocation of a key. It says what becomes of the webhook endpoints that the key made or redirected. */
export class RevokeApiKey {
  /**
   * `LEAKED`: they are deactivated, for a key that others have or that nobody needs any more. `REPLACED`: the
   * key `replacedBy` takes them over, and they go on.
   */
  @IsIn(REVOCATION_REASONS, { message: `must be one of ${REVOCATION_REASONS.join(', ')}` })
  reason: RevocationReason;

  /** Id of the new key, with `REPLACED` alone. */
  @IsOptional()
  @IsString()
  replacedBy?: string;
}

/** Filters the list of keys. */
export class ListApiKeys {
  /**
   * Minimum age in days: only keys that still work and were neither created nor used for this long are
   * listed.
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_UNUSED_DAYS)
  unusedForDays?: number;
}

/** Key without its value. */
export interface ApiKeySummary {
  id: string;
  name: string;
  /** Beginning of the key: `plk_` and the first and last 4 characters of the rest. */
  preview: string;
  scopes: Scope[];
  /** Networks (CIDR) from which the key may be used; null for all. */
  allowedNetworks: string[] | null;
  createdBy: string | null;
  createdAt: Date;
  /** Time of the last use, to the minute. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** Revoked key, and what became of the webhook endpoints that it had made or changed. */
export interface RevokedApiKey extends ApiKeySummary {
  endpoints: EndpointOfKey[];
}

/** New key with its value. */
export interface CreatedApiKey extends ApiKeySummary {
  /** Value of the key. Only this result has it: the service stores a hash. */
  key: string;
}

export function toApiKeySummary(key: ApiKeyEntity): ApiKeySummary {
  const { id, name, scopes, allowedNetworks, createdBy, createdAt, lastUsedAt, expiresAt, revokedAt } = key;
  const preview = `plk_${key.firstChars}…${key.lastChars}`;
  return {
    id,
    name,
    preview,
    scopes,
    allowedNetworks,
    createdBy,
    createdAt,
    lastUsedAt,
    expiresAt,
    revokedAt,
  };
}
