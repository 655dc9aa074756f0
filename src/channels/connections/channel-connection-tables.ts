import { TableDeclaration } from '../../stored-data/table-declaration';

/** Declares the table of channel connections. */
export const CHANNEL_CONNECTION_TABLES: TableDeclaration[] = [
  {
    name: 'channel_connections',
    key: { tenant_id: 'uuid', id: 'uuid' },
    deletion: {},
    erasure: { none: "It names the workspace's own account, and no contact." },
    export: { none: "It names the workspace's own account, and no contact." },
    retention: { none: 'Ids of messages refer to a connection, also to one that was disconnected.' },
    secrets: ['credentials'],
  },
];
