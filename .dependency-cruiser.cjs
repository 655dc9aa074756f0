// The layers, as arrows: which folder may import which. Arrows go down only and never in a circle.
//
//                     main  cli  index                       the doors
//                            app                             wires everything
//      webhooks  channels  operations  openapi               react, or serve
//                            ↓
//                         privacy                            erases and exports what others keep
//                         notices                            mails and pushes what nobody has read
//                            ↓
//      message-search → messages → attachments → conversations → contacts → workspaces ← auth, logins, inbox
//                            ↓
//      audit  alerts → outbox;  idempotency  secrets  access what every feature may use
//                            ↓
//      http  outgoing  mails  metrics  queue  database  redis  config  common  the ground: imports no feature
//
// A folder may import itself and the folders named for it here, and nothing else of src/. A folder's name
// stands for its files without those of its sub-folders that have a line of their own.

const DATABASE = ['database', 'database/driver', 'database/placement', 'database/setup', 'database/tables'];
const GROUND = ['common', 'config', 'redis', ...DATABASE, 'queue/polling', 'queue/floors', 'queue/claims'];
const HTTP = ['http', 'http/connections', 'http/streams', 'http/limits'];
const SUPPORT = [
  'outbox',
  'audit',
  'alerts',
  'access',
  'idempotency',
  'secrets',
  'metrics',
  ...HTTP,
  ...GROUND,
];
const CONTACTS = ['contacts', 'workspaces'];
const CONVERSATIONS = ['conversations', ...CONTACTS];
const MESSAGES = ['messages', 'attachments', ...CONVERSATIONS];

/** @type {Record<string, string[]>} */
const MAY_IMPORT = {
  common: [],
  config: ['common'],
  redis: ['common', 'config', 'metrics'],
  'database/driver': ['common', 'config'],
  'database/placement': [],
  'database/citus': ['common', 'database/driver', 'database/placement'],
  database: ['common', 'config', 'database/driver', 'database/placement', 'database/citus'],
  'database/history': ['common', 'database', 'database/citus'],
  'database/setup': ['common', 'config', 'database', 'database/driver', 'database/citus', 'database/history'],
  'database/tables': ['database'],
  queue: ['redis', 'common', 'queue/claims'],
  'queue/claims': ['database', 'queue/floors'],
  'queue/floors': ['common', ...DATABASE],
  'queue/polling': ['common', 'database', 'database/placement'],
  access: ['common', 'database'],
  metrics: [],
  'http/connections': ['common', 'config', 'metrics'],
  'http/streams': ['common', 'metrics', 'http/connections'],
  http: ['common', 'config', 'access', 'metrics', 'database/driver', 'http/connections', 'http/streams'],
  'http/limits': ['common', 'config', 'redis', 'metrics', 'http'],
  'http/served-files': ['common', 'http', 'http/connections'],

  outgoing: ['common'],
  mails: ['common', 'config'],

  outbox: ['access', 'metrics', ...GROUND],
  alerts: ['access', 'outbox', ...GROUND],
  audit: ['access', 'outbox', ...GROUND],
  idempotency: GROUND,
  secrets: ['audit', 'access', ...GROUND],

  workspaces: SUPPORT,
  auth: ['workspaces', ...SUPPORT],
  logins: ['mails', 'workspaces', ...SUPPORT],
  contacts: ['workspaces', ...SUPPORT],
  conversations: [...CONTACTS, ...SUPPORT],
  attachments: [...CONVERSATIONS, ...SUPPORT],
  messages: ['attachments', ...CONVERSATIONS, ...SUPPORT],
  inbox: [...MESSAGES, ...SUPPORT],

  notices: ['mails', 'logins', 'outgoing', 'inbox', ...CONVERSATIONS, ...SUPPORT],

  privacy: ['inbox', ...MESSAGES, ...SUPPORT],
  'message-search': [...MESSAGES, ...SUPPORT],
  webhooks: [...MESSAGES, 'outgoing', 'queue', ...SUPPORT],
  channels: ['inbox', 'notices', ...MESSAGES, 'outgoing', 'queue', ...SUPPORT],
  openapi: ['outbox', 'access', 'http', 'http/connections', 'common', 'config'],
  'operations/health': ['http', ...GROUND],
  'operations/metrics': ['metrics', 'alerts', 'config', 'queue/floors', 'database/history', ...DATABASE],
  'operations/parked-events': ['workspaces', ...SUPPORT],
  'operations/alert-watch': ['alerts', 'auth', 'workspaces', 'queue', ...GROUND],
  'operations/retention': ['privacy', 'attachments', 'workspaces', 'queue', 'database/history', ...GROUND],
};

/**
 * Sub-folders of a folder: which of its siblings each may import. The files at the top of the folder wire
 * them, so no sub-folder imports those.
 * @type {Record<string, Record<string, string[]>>}
 */
const INSIDE = {
  logins: {
    people: [],
    sessions: ['people'],
    links: ['sessions', 'people'],
    passwords: ['links', 'sessions', 'people'],
    'second-factor': ['passwords', 'sessions', 'people'],
    invitations: ['passwords', 'links', 'sessions', 'people'],
  },
  inbox: {
    drafts: [],
    notes: [],
    presence: [],
    'read-marks': [],
    'saved-replies': [],
  },
  attachments: {
    store: [],
    renditions: ['store'],
    files: ['renditions', 'store'],
    contents: ['files', 'renditions', 'store'],
    uploads: ['files', 'store'],
  },
  webhooks: {
    sending: [],
    context: [],
    endpoints: ['context', 'sending'],
    rollups: ['endpoints', 'sending'],
    deliveries: ['endpoints', 'context', 'sending', 'rollups'],
    browsing: ['deliveries', 'endpoints', 'context', 'sending'],
    recoveries: ['browsing', 'deliveries', 'endpoints'],
    testing: ['deliveries', 'endpoints', 'context', 'sending'],
    api: ['testing', 'endpoints'],
  },
  channels: {
    adapters: [],
    connections: ['adapters'],
    'provider-ids': ['adapters'],
    customers: ['provider-ids', 'adapters'],
    fetches: ['customers', 'connections', 'adapters'],
    outbound: ['customers', 'provider-ids', 'connections', 'adapters'],
    receipts: ['outbound', 'provider-ids', 'adapters'],
    inbound: ['customers', 'fetches', 'receipts', 'provider-ids', 'connections', 'adapters'],
    tokens: ['connections', 'adapters'],
    reception: ['connections', 'adapters'],
    widget: ['inbound', 'outbound', 'connections', 'adapters'],
  },
};

const FOLDERS = Object.keys(MAY_IMPORT);
const TESTS = '\\.spec\\.ts$';

/**
 * Returns the pattern of a folder's files, without those of sub-folders that have a line of their own.
 *
 * @param {string} folder
 */
function filesOf(folder) {
  const inner = FOLDERS.filter((name) => name.startsWith(`${folder}/`)).map((name) =>
    name.slice(folder.length + 1),
  );
  return inner.length > 0 ? `^src/${folder}/(?!(${inner.join('|')})/)` : `^src/${folder}/`;
}

const arrows = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `${folder}-imports`,
  comment: `src/${folder} may import ${allowed.length > 0 ? allowed.join(', ') : 'no other folder'}.`,
  severity: 'error',
  from: { path: filesOf(folder), pathNot: TESTS },
  to: { path: '^src/', pathNot: [folder, ...allowed].map(filesOf) },
}));

const inside = Object.entries(INSIDE).flatMap(([folder, subfolders]) => [
  {
    name: `${folder}-known-subfolders`,
    comment: `A new sub-folder of src/${folder} says here what it may import.`,
    severity: 'error',
    from: {
      path: `^src/${folder}/[^/]+/`,
      pathNot: `^src/${folder}/(${Object.keys(subfolders).join('|')})/`,
    },
    to: {},
  },
  ...Object.entries(subfolders).map(([subfolder, allowed]) => ({
    name: `${folder}-${subfolder}-siblings`,
    comment: `Of src/${folder}, ${subfolder} may import ${allowed.length > 0 ? allowed.join(', ') : 'nothing else'}.`,
    severity: 'error',
    from: { path: `^src/${folder}/${subfolder}/`, pathNot: TESTS },
    to: {
      path: `^src/${folder}/`,
      pathNot: `^src/${folder}/(${[subfolder, ...allowed].join('|')})/`,
    },
  })),
]);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'A circle has no layers: what both sides need belongs below them.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'known-folders',
      comment: 'A new folder of src/ says in MAY_IMPORT what it may import.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: [...FOLDERS.map(filesOf), '^src/(app|cli)/', TESTS] },
      to: {},
    },
    ...arrows,
    ...inside,
    {
      name: 'events-not-calls',
      comment: 'Webhooks and channels react to events: only the modules at the top import them.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(webhooks|channels|app|cli)/' },
      to: { path: '^src/(webhooks|channels)/' },
    },
    {
      name: 'services-without-queues',
      comment:
        'The CLI and other applications load the services, but no queue: src/app/routes.ts has what needs one.',
      severity: 'error',
      from: { path: '^src/(app/messaging\\.module|cli/services)\\.ts$' },
      to: { path: '^node_modules/(@nestjs/)?bull/', reachable: true },
    },
    {
      name: 'not-through-the-door',
      comment: 'The entry points are for other packages.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/index(|-logins|-http)\\.ts$' },
    },
    {
      name: 'service-knows-no-dashboard',
      comment: 'The dashboard stands upon the service, as any other host.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^dashboard/' },
    },
    {
      name: 'dashboard-server-imports-the-package',
      comment: "The dashboard's server imports the service by the package's name, as any other host.",
      severity: 'error',
      from: { path: '^dashboard/server/' },
      to: { path: '^(src|widget)/', dependencyTypesNot: ['aliased'] },
    },
    {
      name: 'dashboard-server-knows-no-page',
      comment: 'The server sends the built files of dashboard/web.',
      severity: 'error',
      from: { path: '^dashboard/server/' },
      to: { path: '^dashboard/web/' },
    },
    {
      name: 'dashboard-page-imports-types-alone',
      comment:
        'What runs in a browser takes nothing of the servers but the types of dashboard/server/src/api.ts.',
      severity: 'error',
      from: { path: '^dashboard/web/' },
      to: { path: '^(src|widget|dashboard/server)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'dashboard-page-knows-the-routes',
      comment: 'dashboard/server/src/api.ts has every type that the pages need.',
      severity: 'error',
      from: { path: '^dashboard/web/' },
      to: { path: '^(src|widget|dashboard/server)/', pathNot: '^dashboard/server/src/api\\.ts$' },
    },
    {
      name: 'only-what-is-installed-for-production',
      comment: 'What runs in production must be among the dependencies.',
      severity: 'error',
      from: { path: '^(src|dashboard/server)/', pathNot: TESTS },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'widget-and-client-apart',
      comment:
        'The widget runs in pages, the client at its users: they import nothing of the service, and the service ' +
        'nothing of them.',
      severity: 'error',
      from: { path: '^(src|widget|client)/' },
      to: { path: '^(src|widget|client|dashboard)/', pathNot: '^$1/' },
    },
    {
      name: 'client-without-dependencies',
      comment: 'The client runs wherever there is fetch and WebCrypto: in Node, Deno, Bun and workers.',
      severity: 'error',
      from: { path: '^client/src/' },
      to: { pathNot: '^client/src/' },
    },
    {
      name: 'loader-alone',
      comment: 'What every page loads: the loader imports no code of the app, only types.',
      severity: 'error',
      from: { path: '^widget/src/loader/' },
      to: {
        path: '^widget/src/',
        pathNot: '^widget/src/(loader/|app-contract\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere would slip past every rule above.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    // Packages that have an exports map and no main.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
