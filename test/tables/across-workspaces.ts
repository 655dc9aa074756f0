/**
 * Lists of the statements that do not name the workspace of each of their tables by a parameter. A statement
 * is named by the method that runs it, with its reason and its cost on a database of several nodes: such a
 * statement asks all of them.
 */

const TAKEN_TYPE =
  'asks whether an event has a subscriber before the statement stores one (src/outbox/outbox.service.ts)';
const OPERATOR = 'an operator asks, by hand';
const NIGHTLY = 'nightly, by one worker';
const EVERY_SECOND = 'finds due work, once a second for each worker: a bounded read by index';

/** Statements that read the workspaces of one person, which a look-up has named, or one for an operator. */
export const NAMED_WORKSPACES: Record<string, string> = {
  'MembershipsRepository.listActive':
    'a person is an agent of several workspaces: at a login or a change of it, for an audit entry in each',
  'MembershipsRepository.listForExport': 'a person asks for their own data, or an operator, by hand',
  'OperatorLookup.findWorkspaceId': OPERATOR,
  'SecondFactorDemandsRepository.findLocking':
    'a person is an agent of several workspaces: when they turn the second factor off',
  LIST_MEMBERSHIPS:
    'a person is an agent of several workspaces: one read by key for each request of a dashboard, and one a second for the sessions of open streams',
};

/**
 * Statements that find work of all workspaces. Each is a plain read; the work is done in a transaction for
 * each workspace.
 */
export const SEARCHES: Record<string, string> = {
  'AgentReleasesRepository.findReleasing': EVERY_SECOND,
  'AutomaticRecoveriesRepository.findDue': EVERY_SECOND,
  'ContactErasuresRepository.findDue': EVERY_SECOND,
  'MessageIndexRepository.findWorkspaces': EVERY_SECOND,
  'DatabaseMetrics.readAlerts':
    'at every scrape of the metrics: up to 10,000 open alerts, by an index of them',
  'DatabaseMetrics.readOutbox': 'at every scrape of the metrics: the oldest rows of the queue',
  'QueuedWorkspacesRepository.findFirst': EVERY_SECOND,
  'AlertMailboxesRepository.findDue': EVERY_SECOND,
  'AlertNewsRepository.findOwed': EVERY_SECOND,
  'AgentNoticesRepository.findDue': EVERY_SECOND,
  'AnswerNoticesRepository.findDue': EVERY_SECOND,
  'AttachmentFetchesRepository.findDue': EVERY_SECOND,
  'FilesRepository.findDue': EVERY_SECOND,
  'RenditionsRepository.findDue': EVERY_SECOND,
  'ReceptionChecksRepository.findDue': EVERY_SECOND,
  'UnknownRepliesRepository.find': EVERY_SECOND,
  'UnknownRepliesRepository.findSettled': EVERY_SECOND,
  'EndingThingsRepository.findTrials': NIGHTLY,
  'EndingThingsRepository.findKeys': NIGHTLY,
  'EndingThingsRepository.findNews': NIGHTLY,
  'EventsRepository.listLatest':
    'finds events of which no signal has told, four times a minute for each process with an open inbox: by index',
  'InstagramTokensRepository.listDue': NIGHTLY,
  'ParkedEventsRepository.findRequested': EVERY_SECOND,
  'ParkedEventsRepository.list': OPERATOR,
  'PendingCancellationsRepository.find': EVERY_SECOND,
  'DueDeliveriesRepository.findOldest': EVERY_SECOND,
  'DueDeliveriesRepository.findScheduled': EVERY_SECOND,
  'DueMessagesRepository.findScheduled':
    'finds leases and holds that have ended, up to five times a second for each worker',
  'DueMessagesRepository.findStuck': EVERY_SECOND,
  FIND_OLDEST: EVERY_SECOND,
  LIST_CONNECTIONS: EVERY_SECOND,
  LIST_ENDPOINTS: EVERY_SECOND,
  LIST_OWED_ENDPOINTS: EVERY_SECOND,
  LIST_QUEUED_CONNECTIONS: EVERY_SECOND,
  LIST_QUEUED_WORKSPACES: EVERY_SECOND,
  LIST_WORKSPACES: EVERY_SECOND,
  'NoticeChoicesRepository.list': EVERY_SECOND,
  'QuietAnswersRepository.listWidgets': EVERY_SECOND,
  'QueueFloorsRepository.list':
    'takes over the floors of other workers, at the start of each and once a minute: a bounded read by index',
  RECENT_FLOOR: 'at every scrape of the metrics: one row by index',
  'SnoozesRepository.findEnded': EVERY_SECOND,
  'TableRowsRepository.findHistoryUses':
    'nightly, before a day of the history is dropped: index look-ups for each workspace',
  requireDistributable: 'by migrate on Citus, before the tables are distributed: one row',
  'TableRowsRepository.findSecrets': 'a rotation of the keys, which an operator starts',
  'WebhookRecoveriesRepository.findUnsettled': EVERY_SECOND,
  'UnsentMessagesRepository.findDue': EVERY_SECOND,
  'WorkspaceDeletionsRepository.findDue': EVERY_SECOND,
  'WorkspaceDeletionsRepository.list': OPERATOR,
  'ChannelConnectionsRepository.findByAccounts': 'the other accounts of one request to a hook',
  'WorkspacesRepository.findMany': 'the workspaces of a turn of the relay, by their ids',
  'WorkspacesRepository.listAll': OPERATOR,
  'WorkspacesRepository.listIds': NIGHTLY,
  'WorkspacesRepository.listMessageRetentions': NIGHTLY,
  'WorkspacesRepository.listSuspended': NIGHTLY,
};

/**
 * Statements that serve several workspaces at once on one server, and one at a time on several nodes or with
 * `CROSS_WORKSPACE_BATCHES=false`.
 */
export const BATCHES: Record<string, string> = {
  'ChannelConnectionsRepository.markReceived': 'a batch of ReceptionTimes',
  'EventQueueRepository.claim': 'a turn of the relay, OutboxRelay.maxWorkspaces',
  'EventQueueRepository.giveBack': 'the same turn',
  'EventQueueRepository.settle': 'a batch of AttemptRecorder',
  'EventQueueRepository.settleAllPipelined': 'a batch of AttemptRecorder',
  'MessageStatusRepository.failAll': 'the same turn as RoutedMessagesRepository.enqueue',
  'PendingDeliveriesRepository.claim': 'a batch of DeliveryClaimer',
  'PendingDeliveriesRepository.postponePipelined': 'a batch of DeliveryClaimer',
  'PendingDeliveriesRepository.settle': 'a batch of AttemptRecorder',
  'QueueFloorsRepository.save': 'a batch of FloorKeeper',
  'RoutedMessagesRepository.enqueue': 'a turn of the relay',
  'RoutedMessagesRepository.lockFirstPipelined': 'the same turn',
  'SubscribersRepository.lockMatching': 'a turn of the relay',
  'EndpointHealthRepository.markFailing': 'a batch of AttemptRecorder',
  'EndpointHealthRepository.markSucceeded': 'a batch of AttemptRecorder',
  failClaimedSql: 'part of EventQueueRepository.claim',
};

/** Statements that lock rows of several workspaces, whatever the setting says. */
export const LOCKS: Record<string, string> = {
  'PartitionChanges.moveDefaultRows':
    'moves rows of a day to its own partition: nightly, only after workers were away for days',
  'TableRowsRepository.cleanUp': 'nightly, in steps of bounded size, by one worker',
};

/**
 * Statements that find a table by the tenant of another table of the statement: they read one workspace, or
 * several at once on one server.
 */
export const JOINS: Record<string, string> = {
  'ApiKeysRepository.lookUp':
    'keys that this process has not accepted yet, 20 times a second at most; on one server alone',
  'AttemptRollupsRepository.addRollups':
    'a batch of AttemptRollups, once in five seconds for each process; of one workspace on several nodes',
  'PendingDeliveriesRepository.cancelUnowedPipelined':
    'the endpoints of a batch of AttemptRecorder or DeliveryClaimer, which is of one workspace on several nodes',
  'OwedNoticesRepository.find':
    'a batch of OwedNotices, once in two seconds for each worker; of one workspace on several nodes',
  'QuietAnswersRepository.find':
    'a batch of QuietAnswers, once a second for each worker; of one workspace on several nodes',
  'VisitorsRepository.listStates':
    'a batch of VisitorStreams, four times a minute; of one workspace on several nodes',
};

/** Methods that put the names of tables together at run time. */
export const RUNNERS: Record<string, string> = {
  PageStatement: 'reads a page of the table that a repository names',
  PartitionChanges: 'makes, fills and drops partitions of the history',
  Partitions: 'looks into default partitions of the history',
  TableRowsRepository: 'runs what the folders of the tables have registered',
};

const SENDS = 'a message with all that belongs to it, in one statement and one round trip';

/** Writes of a table outside its folder. Each is part of a statement that would be several otherwise. */
export const JOINT_WRITES: Record<string, string> = {
  'UnlockedSendsRepository.insert writes conversations': SENDS,
  'UnlockedSendsRepository.insert writes event_queue': SENDS,
  'UnlockedSendsRepository.insert writes events': SENDS,
  'UnlockedSendsRepository.insert writes idempotency_keys': SENDS,
};

const CLAIMED = 'what may still start when something of a workspace is switched off';

/**
 * Reads of a table whose folder the reader may not import. Each is part of a statement that would be two
 * otherwise.
 */
export const CLIMBING_READS: Record<string, string> = {
  'AttachmentsRepository.find reads message_parts': 'shows the delivery of a file with it',
  'AttachmentsRepository.listOfConversations reads message_parts': 'shows the delivery of a file with it',
  'AttachmentsRepository.listOfMessages reads message_parts': 'shows the delivery of a file with it',
  'AttachmentsRepository.listStored reads message_parts': 'shows the delivery of a file with it',
  'ConversationsRepository.passOverPipelined reads messages':
    'finds the next message that waits, where the first one is taken back',
  'AlertSubjectsRepository.listNames reads api_keys': 'the names in a mail, by primary key',
  'AlertSubjectsRepository.listNames reads channel_connections': 'the names in a mail, by primary key',
  'AlertSubjectsRepository.listNames reads webhook_endpoints': 'the names in a mail, by primary key',
  'AnswerNoticesRepository.add reads messages': 'whether the answers of a notice are read, by primary key',
  'AnswerNoticesRepository.findContent reads channel_connections': 'the widget of a mail, by primary key',
  'AnswerNoticesRepository.findContent reads messages': 'as add',
  'AnswerNoticesRepository.listTexts reads messages': 'the texts of a mail, by primary key',
  'ConversationListsRepository.countLost reads messages':
    'conversations by their lost replies, by an index of them',
  'ConversationListsRepository.listActive reads messages':
    'who wrote last in a row of the inbox, by primary key',
  'ConversationListsRepository.listActiveOfContact reads messages': 'as listActive',
  'ConversationListsRepository.listLost reads messages': 'as countLost',
  'LIST_WORKSPACES reads workspaces': "the relay looks at each workspace's queue in turn",
  'MessageStatusRepository.advance reads webhook_endpoints': TAKEN_TYPE,
  'MessageStatusRepository.advanceSelected reads provider_messages':
    'messages that a receipt names by their ids',
  'MessageStatusRepository.advanceSelected reads webhook_endpoints': TAKEN_TYPE,
  'MessageStatusRepository.advanceUpTo reads webhook_endpoints': TAKEN_TYPE,
  'MessageStatusRepository.failAll reads webhook_endpoints': TAKEN_TYPE,
  'MessagesRepository.erase reads webhook_endpoints': TAKEN_TYPE,
  'MessagesRepository.findConversations reads notes':
    'which conversations have anything to export from a time',
  'DatabaseMetrics.readOutbox reads event_queue': 'a metric, which no feature asks for',
  'DatabaseMetrics.readOutbox reads workspaces': "as above, by the floor of each workspace's queue",
  'MembershipsRepository.listForExport reads agent_notice_choices':
    'the choices of notices, as a part of what is stored about a person',
  'MembershipsRepository.listForExport reads alert_mailboxes':
    'the choices of mails, as a part of what is stored about a person',
  'QuietAnswersRepository.find reads messages': 'who wrote last in a quiet conversation, by primary key',
  'QuietAnswersRepository.listWidgets reads channel_connections':
    'the workspaces with a widget, which alone have visitors',
  'UnknownRepliesRepository.find reads messages':
    'replies whose delivery is unknown, by an index of them alone',
  'UnknownRepliesRepository.findSettled reads messages':
    'whether a conversation of an open alert still has such a reply',
  'QueueFloorsRepository.save reads workspaces': 'leaves out floors of deleted workspaces',
  'failClaimedSql reads webhook_endpoints': TAKEN_TYPE,
  'findRole reads agents': 'the permission of an agent, which every feature asks for',
  'leasesOf reads channel_connections': CLAIMED,
  'leasesOf reads event_queue': CLAIMED,
  'leasesOf reads outbound_messages': CLAIMED,
  'leasesOf reads pending_deliveries': CLAIMED,
  'leasesOf reads webhook_endpoints': CLAIMED,
  'lockRole reads agents': 'as findRole, in a transaction',
  'lockWorkingKey reads api_keys': 'a key that is revoked meanwhile changes nothing more',
  'requireDistributable reads workspaces': 'the migrator, which knows all tables',
};
