/** Promise of how the REST API and the events may change, worded as in README.md and contributing.md. */
export const COMPATIBILITY =
  '`v1` only grows: new keys, enumeration values, error codes, routes and event types may come, so ignore what you do ' +
  'not know; nothing is renamed, changes its type or goes. The `data` of `message.created`, `conversation.updated`, ' +
  '`audit.event` and `webhook.test` is frozen: it gets no new keys either.';
