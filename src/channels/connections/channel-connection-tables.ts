import { TableDeclaration } from '../../database/tables/table-declaration';

const OF_THE_WORKSPACE = { none: "It names the workspace's own account, and no contact." };

/** Declares the table of channel connections, and the look-ups of their hook keys and accounts. */
export const CHANNEL_CONNECTION_TABLES: TableDeclaration[] = [
  {
    name: 'channel_connections',
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: {},
    erasure: OF_THE_WORKSPACE,
    export: OF_THE_WORKSPACE,
    retention: { none: 'Ids of messages refer to a connection, also to one that was disconnected.' },
    secrets: ['credentials'],
  },
  {
    name: 'hook_keys',
    key: { hook_key: 'text' },
    placement: 'coordinator',
    deletion: { before: ['channel_connections'] },
    erasure: OF_THE_WORKSPACE,
    export: OF_THE_WORKSPACE,
    retention: { none: 'A row goes when its connection is disconnected.' },
  },
  {
    name: 'connected_accounts',
    key: { channel: 'text', external_id: 'text' },
    placement: 'coordinator',
    deletion: { before: ['channel_connections'] },
    erasure: OF_THE_WORKSPACE,
    export: OF_THE_WORKSPACE,
    retention: { none: 'A row goes when its connection is disconnected.' },
  },
];
