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
import { IsMoment, IsText, TrimUnseen } from '../common/validators';

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
  @IsText(200)
  name: string;

  @ArrayUnique({ message: 'must not name a scope twice' })
  @IsIn(SCOPES, { each: true, message: `must be among ${SCOPES.join(', ')}` })
  @ArrayNotEmpty({ message: 'must name at least one scope' })
  scopes: Scope[];

  /** Time at which the key expires; by default the latest time that the operator allows, or never. */
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

const REVOCATION_REASONS = ['LEAKED', 'REPLACED'] as const;

/** Revocation of a key. The reason decides whether the webhook endpoints that the key made stay active. */
export class RevokeApiKey {
  /**
   * `LEAKED`: other people have the key, or it is not needed any more; its webhook endpoints are deactivated.
   * `REPLACED`: the key `replacedBy` takes its webhook endpoints over, and they stay active.
   */
  @IsIn(REVOCATION_REASONS, { message: `must be one of ${REVOCATION_REASONS.join(', ')}` })
  reason: (typeof REVOCATION_REASONS)[number];

  /** Id of the key that takes the endpoints over; required with `REPLACED`, forbidden with `LEAKED`. */
  @IsOptional()
  @IsString()
  replacedBy?: string;
}

export class ListApiKeys {
  /** Lists only working keys that were neither created nor used in this number of days. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_UNUSED_DAYS)
  unusedForDays?: number;
}

export interface ApiKeySummary {
  id: string;
  name: string;
  /** Text by which people recognize the key, such as `plk_Ab3d…x9Yz`. */
  preview: string;
  scopes: Scope[];
  /** Networks (CIDR) from which the key may be used; null for all. */
  allowedNetworks: string[] | null;
  /** Agent who created the key; null for an operator or the system. */
  createdBy: string | null;
  createdAt: Date;
  /** Time of the last use, recorded at most once a minute. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

export interface RevokedApiKey extends ApiKeySummary {
  endpoints: EndpointOfKey[];
}

export interface CreatedApiKey extends ApiKeySummary {
  /** Value of the key. It can't be read again, because the service stores only its hash. */
  key: string;
}
