import { Type } from 'class-transformer';
import { ArrayNotEmpty, ArrayUnique, IsDate, IsIn, IsOptional, MinDate } from 'class-validator';
import { type Scope, SCOPES } from '../common/scope';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';
import { ApiKeyEntity } from './api-key.entity';

export class CreateApiKey {
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name: string;

  @ArrayUnique({ message: 'must not name a scope twice' })
  @IsIn(SCOPES, { each: true, message: `must be among ${SCOPES.join(', ')}` })
  @ArrayNotEmpty({ message: 'must name at least one scope' })
  scopes: Scope[];

  /** Default: the key never expires. */
  @IsOptional()
  @MinDate(() => new Date(), { message: 'must be in the future' })
  @IsDate({ message: 'must be an ISO 8601 date' })
  @Type(() => Date)
  expiresAt?: Date;
}

/** A key without its value. */
export interface ApiKeySummary {
  id: string;
  name: string;
  /** `plk_` and the first and last 4 characters. */
  preview: string;
  scopes: Scope[];
  createdBy: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** `key` is the value. It is returned only once: the service stores a hash. */
export interface CreatedApiKey extends ApiKeySummary {
  key: string;
}

export function toApiKeySummary(key: ApiKeyEntity): ApiKeySummary {
  const { id, name, scopes, createdBy, createdAt, lastUsedAt, expiresAt, revokedAt } = key;
  const preview = `plk_${key.firstChars}…${key.lastChars}`;
  return { id, name, preview, scopes, createdBy, createdAt, lastUsedAt, expiresAt, revokedAt };
}
