/** What a plan can include, or a workspace can have beside its plan. */
export const ENTITLEMENTS = ['auditWebhookExport'] as const;
export type Entitlement = (typeof ENTITLEMENTS)[number];
