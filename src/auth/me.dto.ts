import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Principal } from '../access/principal';
import { type Scope, SCOPES } from '../access/permissions';

@ApiSchema({ name: 'Tenant' })
export class TenantResponse {
  @ApiProperty({ example: '019ab3ee-0a1b-7c2d-8e3f-4a5b6c7d8e9f' })
  id: string;

  @ApiProperty({ example: 'Acme Support' })
  name: string;

  @ApiProperty({ example: 'acme' })
  slug: string;

  @ApiProperty({ example: 'PRO', description: 'TRIAL, STARTER, PRO or ENTERPRISE; more may come.' })
  planTier: string;
}

@ApiSchema({ name: 'ApiKeyIdentity' })
export class MeResponse {
  @ApiProperty({ example: '019ab3f0-77aa-7f10-8d2f-1b6f3a4c5d6e' })
  apiKeyId: string;

  @ApiProperty({
    enum: SCOPES,
    enumName: 'Scope',
    isArray: true,
    example: ['conversations:read', 'messages:write'],
  })
  scopes: Scope[];

  @ApiProperty()
  tenant: TenantResponse;
}

export function toMe({ apiKeyId, scopes, tenant: { id, name, slug, planTier } }: Principal): MeResponse {
  return { apiKeyId, scopes, tenant: { id, name, slug, planTier } };
}
