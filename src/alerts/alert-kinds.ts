/** Things that alerts are about. The id of a `workspace` is the alert's own `tenantId`. */
export const ALERT_SUBJECTS = [
  'webhook_endpoint',
  'channel_connection',
  'conversation',
  'api_key',
  'workspace',
] as const;
export type AlertSubject = (typeof ALERT_SUBJECTS)[number];

interface KindOfAlert {
  subject: AlertSubject;
  description: string;
  /** Hours after which an alert that is mere news is resolved; null if only a cause resolves it. */
  endsAfterHours: number | null;
}

/** Catalog of the kinds of alerts, each with its subject, and the causes that open and resolve it. */
export const alertCatalog = {
  ENDPOINT_FAILING: {
    subject: 'webhook_endpoint',
    description:
      'A delivery to the endpoint was given up, and none has succeeded since. Resolved by a success, and when the endpoint is switched off or deleted.',
    endsAfterHours: null,
  },
  ENDPOINT_SWITCHED_OFF: {
    subject: 'webhook_endpoint',
    description:
      'The service switched the endpoint off, because it answered 410 or failed for five days. Resolved when it is switched on or deleted.',
    endsAfterHours: null,
  },
  RECOVERY_FINISHED: {
    subject: 'webhook_endpoint',
    description:
      'A recovery delivered all that the endpoint had missed. Resolved by the next failure or recovery, or after a day.',
    endsAfterHours: 24,
  },
  RECOVERY_STOPPED: {
    subject: 'webhook_endpoint',
    description:
      'A recovery ended, and the endpoint still misses events. Resolved by the next recovery, and when the endpoint is deleted.',
    endsAfterHours: null,
  },
  CHANNEL_NEEDS_CREDENTIALS: {
    subject: 'channel_connection',
    description:
      'The provider refuses the credentials of the connection. Resolved when it works again or is disconnected.',
    endsAfterHours: null,
  },
  CHANNEL_RECEIVES_NOTHING: {
    subject: 'channel_connection',
    description:
      'The provider has something for the connection and cannot deliver it, or delivers to nobody or elsewhere. Resolved when the provider says otherwise, and when the connection needs credentials or is disconnected.',
    endsAfterHours: null,
  },
  REPLIES_FAILING: {
    subject: 'channel_connection',
    description:
      'Five replies in a row failed within an hour. Resolved by a reply that arrives, and when the connection needs credentials, works again or is disconnected.',
    endsAfterHours: null,
  },
  REPLY_UNKNOWN: {
    subject: 'conversation',
    description:
      'For a quarter of an hour, it is unknown whether a reply has arrived. Resolved when it is known, and when the reply is sent again, dismissed or erased.',
    endsAfterHours: null,
  },
  KEY_ENDING: {
    subject: 'api_key',
    description: 'The API key is about to end. Resolved when it has ended or is revoked.',
    endsAfterHours: null,
  },
  TRIAL_ENDING: {
    subject: 'workspace',
    description:
      "The workspace's trial is about to end, or has ended. Resolved by another plan or a later end.",
    endsAfterHours: null,
  },
  FILES_NEARLY_FULL: {
    subject: 'workspace',
    description: 'Files take 90 % of what the workspace may store. Resolved below 80 %.',
    endsAfterHours: null,
  },
} as const satisfies Record<string, KindOfAlert>;

export type AlertKind = keyof typeof alertCatalog;
export const ALERT_KINDS = Object.keys(alertCatalog) as [AlertKind, ...AlertKind[]];
