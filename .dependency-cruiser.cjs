// The layers, as arrows: which folder may import which. Arrows go down only and never in a circle.
//
//                 main  cli  index                          the top: wires everything
//      webhooks  channels  retention  openapi  health  widget-files  docs-site   react, or serve
//                                ↓
//                             privacy                      erases and exports what others keep
//                    ↓
//      webhooks, message-search → messages → conversations → contacts → workspaces ← auth
//                    ↓
//      audit → outbox, access;  idempotency  secrets        what every feature may use
//      rate-limit → http   metrics → queue-floors   queue   counts and wakes for all of them
//      stored-data  database  redis  config  common         the ground: knows no feature
//
// A folder may import itself and the folders named for it here, and nothing else of src/. A feature without a
// line may import SUPPORT, and what it is about: workspaces, contacts, conversations, messages.

const GROUND = ['common', 'config', 'database', 'redis', 'stored-data'];
const SUPPORT = [
  'outbox',
  'audit',
  'access',
  'idempotency',
  'secrets',
  'rate-limit',
  'http',
  'metrics',
  'queue-floors',
  ...GROUND,
];

/** @type {Record<string, string[]>} */
const MAY_IMPORT = {
  common: [],
  config: ['common'],
  database: ['common', 'config'],
  redis: ['common', 'config'],
  'stored-data': ['common', 'database'],

  metrics: ['queue-floors', ...GROUND],
  http: ['metrics', ...GROUND],
  queue: GROUND,
  'queue-floors': GROUND,

  outbox: ['metrics', 'queue-floors', ...GROUND],
  access: GROUND,
  audit: ['access', 'outbox', ...GROUND],
  idempotency: GROUND,
  secrets: ['audit', 'access', ...GROUND],
  'rate-limit': ['http', 'metrics', ...GROUND],

  workspaces: SUPPORT,
  auth: ['workspaces', ...SUPPORT],
  logins: ['workspaces', ...SUPPORT],
  'parked-events': ['workspaces', ...SUPPORT],
  conversations: ['contacts', 'workspaces', ...SUPPORT],
  presence: ['workspaces', ...SUPPORT],
  messages: ['conversations', 'contacts', 'workspaces', ...SUPPORT],

  privacy: ['notes', 'messages', 'conversations', 'contacts', 'workspaces', ...SUPPORT],
  'message-search': ['messages', 'conversations', 'contacts', 'workspaces', ...SUPPORT],

  webhooks: ['messages', 'conversations', 'contacts', 'workspaces', 'queue', ...SUPPORT],
  channels: ['presence', 'messages', 'conversations', 'contacts', 'workspaces', 'queue', ...SUPPORT],
  retention: ['privacy', 'workspaces', 'queue', ...GROUND],
  health: ['http', ...GROUND],
  openapi: ['outbox', 'http', ...GROUND],
  'widget-files': ['http', ...GROUND],
  'docs-site': ['http', ...GROUND],
};

/**
 * Sub-folders of a folder: which of its siblings each may import. The files at the top of the folder wire
 * them, so no sub-folder imports those.
 * @type {Record<string, Record<string, string[]>>}
 */
const INSIDE = {
  logins: {
    mails: [],
    people: ['mails'],
    sessions: ['people'],
    links: ['sessions', 'people', 'mails'],
    passwords: ['links', 'sessions', 'people'],
    'second-factor': ['passwords', 'sessions', 'people'],
    invitations: ['passwords', 'links', 'sessions', 'people'],
  },
  webhooks: {
    sending: [],
    context: [],
    endpoints: ['context', 'sending'],
    rollups: ['endpoints', 'sending'],
    deliveries: ['endpoints', 'context', 'sending', 'rollups'],
    browsing: ['deliveries', 'endpoints', 'context', 'sending'],
    recoveries: ['browsing', 'deliveries', 'endpoints'],
    api: ['browsing', 'endpoints'],
  },
  channels: {
    adapters: [],
    connections: ['adapters'],
    'provider-ids': ['adapters'],
    customers: ['provider-ids', 'adapters'],
    outbound: ['customers', 'provider-ids', 'connections', 'adapters'],
    receipts: ['outbound', 'provider-ids', 'adapters'],
    inbound: ['customers', 'receipts', 'provider-ids', 'connections', 'adapters'],
    tokens: ['connections', 'adapters'],
    widget: ['inbound', 'outbound', 'connections', 'adapters'],
  },
};

/** Folders of src/ that a feature without a line in MAY_IMPORT may import. */
const DEFAULT = ['workspaces', 'contacts', 'conversations', 'messages', ...SUPPORT];

const FOLDERS = Object.keys(MAY_IMPORT);
const TESTS = '\\.spec\\.ts$';

const arrows = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `${folder}-imports`,
  comment: `src/${folder} may import ${allowed.length > 0 ? allowed.join(', ') : 'no other folder'}.`,
  severity: 'error',
  from: { path: `^src/${folder}/`, pathNot: TESTS },
  to: { path: '^src/', pathNot: `^src/(${[folder, ...allowed].join('|')})/` },
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
    name: `${folder}-${subfolder}-imports`,
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
      name: 'features-without-a-line',
      comment: 'A feature that imports more than DEFAULT needs a line in MAY_IMPORT.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: [`^src/(${[...FOLDERS, 'cli'].join('|')})/`, TESTS] },
      to: { path: '^src/', pathNot: `^src/($1|${DEFAULT.join('|')})/` },
    },
    ...arrows,
    ...inside,
    {
      name: 'events-not-calls',
      comment: 'Webhooks and channels react to events: only the modules at the top import them.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(webhooks|channels|cli)/' },
      to: { path: '^src/(webhooks|channels)/' },
    },
    {
      name: 'services-without-queues',
      comment:
        'The CLI and other applications load the services, but no queue: src/routes.ts has what needs one.',
      severity: 'error',
      from: { path: '^src/(messaging\\.module|cli/services)\\.ts$' },
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
