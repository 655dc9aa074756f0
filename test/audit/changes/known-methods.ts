/**
 * Methods that change nothing of a workspace and take no actor, because a session or token says who asks. The
 * other reads are those of `readsOf`.
 */
export const PERSONAL_READS = [
  'LoginsService.authenticate',
  'LoginsService.listOpened',
  'LoginsService.listSessions',
  'LinksService.describe',
  'PeopleService.get',
  'PeopleService.export',
  'PasswordsService.confirm',
  'PushAddressesService.getState',
  'PushAddressesService.test',
  'PasswordsService.findReset',
  // A second factor has no effect until it is confirmed.
  'SecondFactorsService.begin',
  // Any stranger may call it, so its calls are counted instead.
  'PasswordsService.requestReset',
  // Whoever made an upload is asked for with its id.
  'UploadsService.get',
  'UploadsService.require',
];

/** Methods that change nothing, of which one takes the permission of a change and the other no call's. */
export const OTHER_READS = [
  'WebhookEndpointsService.checkUrl',
  'KeyRotationService.registerOther',
  'PeopleService.registerExport',
  // Nothing of presence is stored.
  'PresenceService.keepInboxOpen',
  'PresenceService.isActive',
  'PresenceService.listen',
  'ContactsService.findPresentId',
];

/** Methods that write the words and the data of people: no configuration, access or status. */
export const CONTENT = [
  // The system's own contacts have no entry.
  'ContactsService.create',
  'ConversationsService.create',
  'DraftsService.save',
  'UploadsService.create',
  'UploadsService.delete',
  'LostMessagesService.dismiss',
  'AttachmentRetriesService.retry',
];

/** Methods that write what one person alone sees. */
export const PERSONAL_WRITES = [
  'ReadMarksService.markRead',
  'ReadMarksService.markUnread',
  'AlertMailChoicesService.update',
  'NoticeChoicesService.set',
  'PushAddressesService.delete',
  'PushAddressesService.set',
  'ReadMarksService.markRead',
  'ReadMarksService.markUnread',
];

/** Writing methods by the CLI's command that calls them; null for a command that only reads. */
export const COMMANDS: Record<string, string | null> = {
  'workspace create': 'WorkspacesService.create',
  'workspace list': null,
  'workspace usage': null,
  'workspace update': 'WorkspacesService.update',
  'workspace demand-factor': 'SecondFactorDemandsService.demand',
  'workspace end-factor-demand': 'SecondFactorDemandsService.endDemand',
  'workspace suspend': 'WorkspacesService.suspend',
  'workspace resume': 'WorkspacesService.resume',
  'workspace cancel-deletion': 'WorkspacesService.cancelDeletion',
  'workspace delete': 'WorkspacesService.delete',
  'workspace deletion': null,
  'workspace deletions': null,
  'agent create': 'AgentsService.create',
  'agent list': null,
  'agent update': 'AgentsService.update',
  'agent erase': 'AgentErasuresService.erase',
  'agent invite': 'InvitationsService.invite',
  'login list': null,
  'login reset': 'OperatorLoginsService.sendReset',
  'login end-factor': 'OperatorLoginsService.turnOffSecondFactor',
  'login sessions': null,
  'login export': null,
  'login revoke': 'OperatorLoginsService.revokeSessions',
  'api-key create': 'ApiKeysService.create',
  'api-key list': null,
  'api-key revoke': 'ApiKeysService.revoke',
  'api-key revoke-all': 'ApiKeysService.revokeByCreator',
  'webhook create': 'WebhookEndpointsService.create',
  'webhook list': null,
  'webhook activate': 'WebhookEndpointsService.activate',
  'webhook update': 'WebhookEndpointsService.update',
  'webhook deactivate': 'WebhookEndpointsService.deactivate',
  'webhook delete': 'WebhookEndpointsService.delete',
  'webhook roll-secret': 'WebhookEndpointsService.rollSecret',
  'webhook end-secret': 'WebhookEndpointsService.endPreviousSecret',
  'webhook test': 'WebhookTestService.test',
  'webhook deliveries': null,
  'webhook delivery': null,
  'webhook redeliver': 'WebhookDeliveriesService.redeliver',
  'webhook retry': 'WebhookDeliveriesService.retryNow',
  'webhook recover': 'WebhookRecoveriesService.recoverMissed',
  'webhook recovery': null,
  'webhook cancel-recovery': 'WebhookRecoveriesService.cancel',
  'webhook automatic-recovery': null,
  'webhook cancel-automatic-recovery': 'AutomaticRecoveriesService.cancel',
  'webhook health': null,
  'channel connect': 'ChannelConnectionsService.connect',
  'channel list': null,
  'channel rotate': 'ChannelConnectionsService.rotate',
  'channel disconnect': 'ChannelConnectionsService.disconnect',
  'contact create': 'ContactsService.create',
  'contact erase': 'ContactErasuresService.start',
  'contact erasure': null,
  'contact export': 'ContactExportService.export',
  'contact archive': 'ContactExportService.export',
  'conversation create': 'ConversationsService.create',
  'conversation update': 'ConversationsService.update',
  'message receive': 'MessagesService.receive',
  'message send': 'MessagesService.send',
  'files check': null,
  'alerts list': null,
  'audit list': null,
  'audit export': null,
  'outbox parked': null,
  'outbox retry': 'ParkedEventsService.retry',
  'outbox give-up': 'ParkedEventsService.giveUp',
  'secrets reencrypt': 'KeyRotationService.reencrypt',
};
/** Commands that call no service. */
export const WITHOUT_SERVICE = ['migrate'];

/** Writing methods by the REST API's route that calls them; null for a route without an exported service. */
export const ROUTES: Record<string, string | null> = {
  'PATCH /api/v1/conversations/:id': 'ConversationsService.update',
  'POST /api/v1/conversations/:id/messages': 'MessagesService.send',
  'POST /api/v1/conversations': 'NewConversationsService.create',
  'POST /api/v1/contacts': 'ContactsService.create',
  'POST /api/v1/webhook-endpoints': 'WebhookEndpointsService.create',
  'PATCH /api/v1/webhook-endpoints/:id': 'WebhookEndpointsService.update',
  'DELETE /api/v1/webhook-endpoints/:id': 'WebhookEndpointsService.delete',
  'POST /api/v1/webhook-endpoints/:id/test': 'WebhookTestService.test',
  'POST /api/v1/webhook-endpoints/:id/roll-secret': 'WebhookEndpointsService.rollSecret',
  'PATCH /api/v1/contacts/:id': 'ContactsService.update',
  'POST /api/v1/uploads': 'UploadsService.create',
  'PUT /api/v1/uploads/:id/content': null,
  'DELETE /api/v1/uploads/:id': 'UploadsService.delete',
  'POST /api/v1/attachments': 'UploadsService.create',
  'POST /api/v1/attachments/:id/retry': 'AttachmentRetriesService.retry',
};
