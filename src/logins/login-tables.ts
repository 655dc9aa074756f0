import { TableDeclaration } from '../database/tables/table-declaration';

const NO_CONTACT = { none: 'It is about people who log in, and names no contact.' };
const OF_A_PERSON = { none: 'It belongs to a person, who may be a member of other workspaces.' };
const GOES_AT_ITS_END = { age: 'expires_at', keptHours: 0 };

/** Declares the tables of people who log in, and of their memberships in workspaces. */
export const LOGIN_TABLES: TableDeclaration[] = [
  {
    name: 'people',
    key: { id: 'uuid' },
    placement: 'coordinator',
    deletion: OF_A_PERSON,
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: {
      age: 'created_at',
      keptHours: 'history',
      guard: 'NOT EXISTS (SELECT FROM person_workspaces w WHERE w.person_id = t.id)',
    },
  },
  {
    name: 'memberships',
    key: { tenant_id: 'uuid', agent_id: 'uuid' },
    placement: 'workspace',
    deletion: { before: ['agents'] },
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'A membership stays until an agent is deactivated for good.' },
  },
  {
    name: 'person_workspaces',
    key: { person_id: 'uuid', tenant_id: 'uuid' },
    placement: 'coordinator',
    deletion: { after: ['memberships'] },
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'A row goes with its membership.' },
  },
  {
    name: 'invitations',
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: { before: ['agents'] },
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: GOES_AT_ITS_END,
  },
  {
    name: 'second_factor_demands',
    key: { tenant_id: 'uuid' },
    placement: 'workspace',
    deletion: {},
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'A demand stays until the workspace ends it.' },
  },
  ...(
    [
      ['login_sessions', { id: 'uuid' }],
      ['pending_logins', { hash: 'bytea' }],
      ['known_browsers', { id: 'uuid' }],
      ['password_resets', { hash: 'bytea' }],
    ] as const
  ).map(([name, key]) => ({
    name,
    key,
    placement: 'coordinator' as const,
    deletion: OF_A_PERSON,
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: GOES_AT_ITS_END,
  })),
  ...(
    [
      ['second_factors', { person_id: 'uuid' }],
      ['recovery_codes', { person_id: 'uuid', hash: 'bytea' }],
    ] as const
  ).map(([name, key]) => ({
    name,
    key,
    placement: 'coordinator' as const,
    deletion: OF_A_PERSON,
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'A row goes with its person, or when the second factor is taken away.' },
  })),
];
