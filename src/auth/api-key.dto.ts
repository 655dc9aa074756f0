import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsIn,
  IsInt,
  IsOptional,
  Max,
  Min,
  MinDate,
  ValidateBy,
} from 'class-validator';
import { isExactNetwork } from '../common/network';
import { type Scope, SCOPES } from '../common/permissions';
import { IsMoment, IsStorableText, MaxCharacters, NotBlank } from '../common/validators';
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

  /** By default the end of the longest life that the operator allows; without one, the key never expires. */
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
  allowedNetworks?: string[];
}

/** Filters the list of keys. */
export class ListApiKeys {
  /** Lists only keys that still work, were created at least this many days ago, and were not used since. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_UNUSED_DAYS)
  unusedForDays?: number;
}

/** A key without its value. */
export interface ApiKeySummary {
  id: string;
  name: string;
  /** `plk_` and the first and last 4 characters. */
  preview: string;
  scopes: Scope[];
  /** Null: the key may be used from everywhere. */
  allowedNetworks: string[] | null;
  createdBy: string | null;
  createdAt: Date;
  /** Exact to a minute. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** A new key with its value. */
export interface CreatedApiKey extends ApiKeySummary {
  /** The value. Only this result has it: the service stores a hash. */
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
