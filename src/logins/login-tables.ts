import { TableDeclaration } from '../database/tables/table-declaration';
import { InvitationsRepository } from './invitations/invitations.repository';
import { PeopleRepository } from './people/people.repository';

const NO_CONTACT = { none: 'It is about people who log in, and names no contact.' };
const OF_MEMBERS = {
  placement: 'workspace',
  deletion: { before: ['agents'] },
  erasure: NO_CONTACT,
  export: NO_CONTACT,
} satisfies Partial<TableDeclaration>;
const OF_PEOPLE = {
  placement: 'coordinator',
  deletion: { none: 'It belongs to a person, who may be a member of other workspaces.' },
  erasure: NO_CONTACT,
  export: NO_CONTACT,
} satisfies Partial<TableDeclaration>;
const GOES_AT_ITS_END = { age: 'expires_at', keptHours: 0 };
const GOES_WITH_THE_FACTOR = { none: 'A row goes with its person, or when the second factor is taken away.' };

export function loginTables(
  people: PeopleRepository,
  invitations: InvitationsRepository,
): TableDeclaration[] {
  return [
    {
      ...OF_PEOPLE,
      name: 'people',
      key: { id: 'uuid' },
      retention: {
        age: 'created_at',
        keptHours: 'history',
        guard: 'NOT EXISTS (SELECT FROM person_workspaces w WHERE w.person_id = t.id)',
      },
    },
    {
      ...OF_MEMBERS,
      name: 'memberships',
      key: { tenant_id: 'uuid', agent_id: 'uuid' },
      erasure: { eraseAgent: (tx, agent) => people.endMembership(tx, agent) },
      retention: { none: 'A membership stays until an agent is deactivated for good.' },
    },
    {
      ...OF_PEOPLE,
      name: 'person_workspaces',
      key: { person_id: 'uuid', tenant_id: 'uuid' },
      deletion: { after: ['memberships'] },
      retention: { none: 'A row goes with its membership.' },
    },
    {
      ...OF_MEMBERS,
      name: 'invitations',
      key: { tenant_id: 'uuid', id: 'uuid' },
      erasure: { eraseAgent: (tx, agent) => invitations.deleteByAgent(tx, agent) },
      retention: GOES_AT_ITS_END,
    },
    {
      ...OF_MEMBERS,
      name: 'second_factor_demands',
      key: { tenant_id: 'uuid' },
      deletion: {},
      retention: { none: 'A demand stays until the workspace ends it.' },
    },
    { ...OF_PEOPLE, name: 'login_sessions', key: { id: 'uuid' }, retention: GOES_AT_ITS_END },
    { ...OF_PEOPLE, name: 'pending_logins', key: { hash: 'bytea' }, retention: GOES_AT_ITS_END },
    { ...OF_PEOPLE, name: 'known_browsers', key: { id: 'uuid' }, retention: GOES_AT_ITS_END },
    { ...OF_PEOPLE, name: 'password_resets', key: { hash: 'bytea' }, retention: GOES_AT_ITS_END },
    { ...OF_PEOPLE, name: 'second_factors', key: { person_id: 'uuid' }, retention: GOES_WITH_THE_FACTOR },
    {
      ...OF_PEOPLE,
      name: 'recovery_codes',
      key: { person_id: 'uuid', hash: 'bytea' },
      retention: GOES_WITH_THE_FACTOR,
    },
  ];
}
