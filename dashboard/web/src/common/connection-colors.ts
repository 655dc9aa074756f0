export const CONNECTION_COLORS = { ACTIVE: 'green', REAUTH_REQUIRED: 'red', DISCONNECTED: 'gray' } as const;
