/**
 * Promise of the additions that the REST API and the events may get, and of the parts that stay. README.md
 * and docs/project/contributing.md have the same words.
 */
export const COMPATIBILITY =
  '`v1` only grows: new keys, enumeration values, error codes, routes and event types may come, so ignore what you do ' +
  'not know; nothing is renamed, changes its type or goes. The `data` of `message.created`, `conversation.updated`, ' +
  '`audit.event` and `webhook.test` is frozen: it gets no new keys either.';
