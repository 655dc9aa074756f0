/** Features that a plan can include, or that a workspace can get in addition to its plan. */
export const ENTITLEMENTS = ['auditWebhookExport'] as const;
export type Entitlement = (typeof ENTITLEMENTS)[number];
