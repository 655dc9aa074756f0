/**
 * Texts of errors that a person can see in the dashboard, by code. An error carries the code and the values
 * of its `{placeholders}` beside the English text, so that a page can say it in another language:
 * `dashboard/web/src/i18n/error-texts-de.ts` has the same codes. Codes are only added.
 */

/** Faults of one field. Each continues a sentence that begins with the field, or is one itself. */
export const FAULTS = {
  // Of any input. `validate.ts` finds them by the rules of the DTO.
  required: 'is required',
  unknown_field: 'is not a known field',
  wrong_form: 'is not of the right form',
  not_text: 'must be a string',
  not_storable: 'must be a string of valid Unicode without NUL',
  not_whole: 'must be an integer number',
  not_boolean: 'must be a boolean value',
  not_object: 'must be an object',
  not_list: 'must be an array',
  not_one_of: 'must be one of the following values: {choices}',
  too_small: 'must not be less than {min}',
  too_large: 'must not be greater than {max}',
  too_long: 'must be at most {max} characters',
  blank: 'must not be blank',
  empty: 'must not be empty',
  none_named: 'must name at least one',
  too_many_named: 'must name at most {max}',
  named_twice: 'must not name anything twice',
  not_email: 'must be an e-mail address',
  not_date: 'must be an ISO 8601 date',
  date_out_of_range: 'must be between the years 1970 and 9999',
  not_future: 'must be in the future',
  too_far_ahead: 'must be at most {days} days ahead',
  not_cursor: 'must be the nextCursor of an earlier page: leave it out for the first page',
  not_limit: 'must be a whole number from 1 to {max}',
  not_network: 'must be networks such as 203.0.113.0/24 or 2001:db8::/32, with no bits set behind the prefix',
  not_origin: 'must be origins such as https://shop.example, without a path, or "*"',
  not_event: 'must be among the event types, or be *',
  not_status_code: 'must be an HTTP status from 200 to 599, or a class such as 4xx',
  not_slug: 'must be 1 to 63 lower-case letters, digits and inner hyphens',
  not_printable: 'must be 1 to {max} printable ASCII characters',
  bad_credential: 'must be text of at most {max} characters',
  verify_token_length: 'must be text of {min} to {max} characters',
  not_id: 'must be the id of {owner}: digits',
  not_token: 'must be ASCII characters without spaces, at most {max}',
  not_bot_token: 'must be a bot token as @BotFather gives it',

  // Of the example that a test sends.
  not_of_schema: 'does not fit the schema of {event} at {path}',
  foreign_id: 'may only have ids of the example, and {key} is another one: {ids}',

  // Of people, their agents and their logins.
  password_length: 'must have {min} to {max} characters',
  password_is_email: 'must not be the e-mail address',
  password_common: 'is too common: choose another one',
  password_present: 'must not be the present password',
  password_wrong: 'is not your password',
  code_wrong: 'is wrong, or was used already',
  code_useless: 'is of no use: there is no second factor',
  second_factor_missing: 'is missing: turn yours on first',
  login_exists: 'has a login already',
  login_missing: 'has no login: invite it',
  too_many_workspaces: 'would be one workspace too many: a login has {max}',
  agent_active: 'is active: deactivate it first',
  agent_erased: 'is erased',
  agent_inactive: 'is not active',
  agent_is_bot: "is a bot, which can't log in",
  key_does_not_work: 'is not another working API key of this workspace',
  only_with_replaced: 'goes with the reason REPLACED alone',
  agent_unknown: 'is not an active agent of this workspace',
  message_unknown: 'is not the id of a message',
  email_not_plain: 'must be an e-mail address without letters that stand for others',
  email_taken: 'belongs to another agent of the workspace',
  last_owner: "can't change: it is the workspace's last active OWNER",
  actor_name: 'must have a name of 1 to {max} characters',

  // Of keys, workspaces, contacts and messages.
  key_life: 'must be at most {days} days ahead: the longest life of a key',
  slug_taken: 'is taken by another workspace',
  not_snoozed: 'is only for a snoozed conversation',
  not_lost: 'is no message of this conversation that was not delivered',
  identity_taken: 'is that of the contact {contact}',
  not_whatsapp_id:
    'must be a phone number with its country code, such as 34600112233, or a business-scoped id, such as ES.1234',
  not_telegram_id: 'must be the id of a chat with one person: a positive number',
  not_scoped_id: 'must be the id of digits that the channel has given the person',
  contact_not_on_channel: 'is that of a contact without an id on {channel}',
  attributes_too_large: 'must be at most {max} bytes of JSON in all',
  not_attributes:
    'must be up to {max} names of at most {name} characters, each with a text of at most {text} characters, a number, true or false',
  name_taken: 'is the name of another one',
  variable_unknown: 'has the unknown variable "{variable}": choose among {choices}',
  no_condition: 'must have a condition',
  jwt_not_alone: 'stands instead of id and signature',
  sender_missing: 'is required: the workspace has no active OWNER or ADMIN',
  body_too_long: 'is longer than the {max} {unit} that {channel} takes',

  // Of channels.
  channel_not_connected: 'is one on which the workspace is not connected: {channel}',
  channel_connected: 'is connected already, to {account}: rotate that connection, or disconnect it first',
  account_elsewhere:
    'are those of {account}, which is connected in another workspace; disconnect it there first',
  account_differs:
    'are those of {given}, and the connection is to {account}: disconnect it to connect another account',
  credentials_refused: 'were refused by {provider}: {answer}',

  // Of an endpoint's address.
  url_invalid: 'This is not a valid URL',
  url_too_long: 'The URL must not be longer than {max} characters',
  url_unseen: 'The URL contains a character that cannot be seen ({character}): type it anew',
  url_not_https: 'The URL must begin with https://',
  url_has_login: 'The URL must not contain a user name or password',
  url_has_fragment: 'The URL must not contain a fragment (#…): no server receives it',
  url_port: 'Port {port} is not allowed; use 443, or 1024 and above',
  host_invalid: '{host} is not a valid host name',
  host_local: '{host} is a local name; the host must be reachable from the Internet',
  host_unknown: '{host} does not exist (NXDOMAIN)',
  host_without_address: '{host} has no address',
  host_servfail: '{host} could not be resolved (SERVFAIL)',
  host_timeout: '{host} could not be resolved: the name server did not answer in time',
  host_unresolved: '{host} could not be resolved ({code})',
  host_not_public: '{host} does not resolve to public addresses',
  host_private: '{host} resolves to an address that is not public',
  host_denied: '{host} resolves to an address that is not allowed',
  address_private: 'The address {host} is not a public one',
  address_denied: 'The address {host} is not allowed',

  // Of an attempt to deliver. Their texts are stored, and `readFault` reads them.
  redirected: 'Answered {status}: redirects are not followed',
  answered: 'Answered {status}',
  no_answer_lookup: 'No answer in time (while resolving the name)',
  no_answer_connect: 'No answer in time (while connecting)',
  no_answer_tls: 'No answer in time (during the TLS handshake)',
  no_answer_ready: 'No answer in time (after the request was sent)',
  no_connection: 'Could not connect ({code})',
  tls_closed: 'TLS: the connection was closed',
  connection_broken: 'The receiver broke the connection off before its answer ({detail})',
  answer_not_http: 'The answer is not valid HTTP/1.1 ({detail})',
  answer_head_too_long: 'The head of the answer, its status line and headers, is longer than {max} KiB',
  answer_interim: 'More than {max} interim answers (1xx) came instead of a final one',
  answer_switched: 'The receiver switched to another protocol (101), which the request does not ask for',
  tls_no_http1: 'The receiver does not offer HTTP/1.1, over which webhooks are sent ({detail})',
  tls_too_old: 'The receiver offers neither TLS 1.2 nor TLS 1.3 ({detail})',
  tls_not_spoken: 'The port of the receiver does not speak TLS, perhaps plain HTTP ({detail})',
  tls_certificate_asked:
    'The receiver asks for a client certificate, and the service has none to show ({detail})',
  tls_refused:
    'The receiver refused the TLS handshake: it may accept no common cipher, or want a client certificate ({detail})',
  tls_name_unknown: 'The receiver has no certificate for the host in the address ({detail})',
  tls_hung_up: 'The receiver closed the connection during the TLS handshake ({detail})',
  cert_expired:
    'A certificate of the receiver has expired, its own or an intermediate one: renew it ({detail})',
  cert_not_yet_valid: "The receiver's certificate is not valid yet ({detail})",
  cert_self_signed: "The receiver's certificate is not signed by a public authority ({detail})",
  cert_untrusted:
    "The receiver's certificate leads to no known authority: an intermediate certificate may be missing ({detail})",
  cert_other_name: "The receiver's certificate is not for the host in the address ({detail})",
  tls_failed: 'The TLS handshake with the receiver failed ({detail})',
  attempt_internal: 'An internal error',
} as const;

/** Reasons why a request is refused as a whole. Each is a sentence. */
export const REASONS = {
  not_found: '{thing} not found.',

  // Permissions.
  role_lacks_permission: 'An agent with the role {role} may not do this ({permission}).',
  key_lacks_permission: 'An API key may not do this ({permission}).',
  key_lacks_event_scope: 'The API key lacks the scope {scope}, which an endpoint for {event} needs.',
  key_lacks_context_scope: "The API key lacks the scope {scope}, which this endpoint's context needs.",
  event_not_for_keys: 'An API key may not manage an endpoint for {event}.',
  only_owner: 'Only an OWNER may do this to an OWNER.',
  only_as_itself: 'An agent sends messages as itself alone.',
  only_operator: 'Only an operator may do this ({permission}).',
  trial_expired: 'The trial has ended: nothing can change until the workspace is upgraded.',
  workspace_suspended: 'The workspace is suspended.',

  // Logins.
  log_in: 'Log in first.',
  log_in_for_link: 'Log in first, then open the link again.',
  password_first: 'Log in with your password first.',
  login_wrong: 'The e-mail address or the password is wrong.',
  login_code_wrong: 'The code is wrong, or was used already.',
  login_ended: 'This login has ended: enter the password again.',
  session_ended: 'The session has ended: log in again.',
  password_changed: 'The password was changed meanwhile: log in again.',
  link_gone: 'This link was used, replaced or taken back, or has expired.',
  second_factor_on: 'There is a second factor already: turn it off first.',
  second_factor_demanded: '{workspace} demands a second factor.',
  no_mail: 'This service sends no mail: ask who manages your workspace for a link.',
  mail_failed: 'The mail could not be sent. Try again in a few minutes.',
  login_of_others:
    'This login opens other workspaces too: ask the operator for a link to reset its password.',
  invitation_of_other: 'This invitation is for {email}: log in under this address.',

  // Limits and conflicts.
  too_many_keys: 'A workspace has at most {max} keys: revoke one first.',
  too_many_saved_replies: 'A workspace has at most {max} saved replies: delete one first.',
  too_many_agents: 'A workspace has at most {max} agents.',
  too_many_endpoints: 'A workspace has at most {max} webhook endpoints.',
  too_many_deleted_endpoints:
    'The workspace has {max} webhook endpoints with those that were deleted lately. Add one when they are forgotten.',
  previous_secret_signs:
    'The previous secret of this endpoint still signs, until {until}. End it first, or roll without a grace period.',
  endpoint_inactive: 'The endpoint is inactive: activate it first.',
  entitlement_missing: 'The plan of this workspace does not include {event} ({entitlement}).',
  endpoint_edited: 'Somebody has edited the endpoint in the meantime.',
  contact_edited: 'Somebody has edited the contact in the meantime.',
  contact_erased: 'The contact is erased: it can not be edited any more.',
  delivery_not_pending: 'The delivery is not pending: deliver it again.',
  event_not_taken: 'The endpoint does not take {event}: add the event first.',
  recovery_running: 'A recovery of this endpoint is running already.',
  connection_disconnected: 'This channel connection is DISCONNECTED: connect the account anew.',
  deletion_scheduled: 'The workspace is to be deleted: cancel the deletion instead.',
  deletion_begun: 'The deletion of the workspace has begun: it can not be changed any more.',
  colleague_replied: 'A colleague has answered since you began to write.',

  // Too many requests. The time to wait follows these texts.
  too_many_requests: 'More than {max} of these requests a minute are too many.',
  too_many_changes: 'More than {max} changes a minute in this workspace are too many.',
  too_many_at_once: 'Too many {work} at once.',
  too_many_logins_of_network: 'Too many logins from this network.',
  too_many_failed_logins: 'Too many failed logins.',
  too_many_failed_logins_of_network: 'Too many failed logins from this network.',
  too_many_failed_logins_of_browser: 'Too many failed logins from this browser.',
  too_many_wrong_codes: 'Too many wrong codes.',
  too_many_wrong_passwords: 'Too many wrong passwords.',
  too_many_resets_of_network: 'Too many resets from this network.',
  too_many_resets: 'Too many resets of this password.',
  too_many_links: 'Too many invitations and resets of this workspace.',
  too_many_links_to_address: 'Too many links to this e-mail address.',

  // Faults that pass.
  test_not_sent: 'The test was not sent in time. Try again.',
  search_too_long: 'The search takes too long. Search for more of the text.',
  busy: 'The service is busy. Retry shortly.',
  internal: 'Something went wrong on our side. Quote the requestId to support.',
} as const;

/** Things that `{thing} not found` names. */
export const THINGS = [
  'Agent',
  'API key',
  'Channel connection',
  'Contact',
  'Contact erasure',
  'Conversation',
  'Deletion',
  'File',
  'Invitation',
  'Login',
  'Message',
  'Note',
  'Parked event',
  'Person',
  'Saved reply',
  'Session',
  'Webhook delivery',
  'Webhook endpoint',
  'Webhook recovery',
  'Widget',
  'Workspace',
] as const;

export type FaultCode = keyof typeof FAULTS;
export type ReasonCode = keyof typeof REASONS;
export type Thing = (typeof THINGS)[number];

export type ErrorValue = string | number | readonly (string | number)[];
export type ErrorValues = Record<string, ErrorValue>;

type PlaceholdersOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;

/** Arguments with the values of a text's placeholders; none for a text without. */
export type ValuesOf<Text extends string> = Text extends string
  ? [PlaceholdersOf<Text>] extends [never]
    ? []
    : [values: Record<PlaceholdersOf<Text>, ErrorValue>]
  : never;

/** A fault's code and values. */
export interface CodedFault {
  code: FaultCode;
  values?: ErrorValues;
}

/** A fault's code and values, with its English text. */
export interface Fault extends CodedFault {
  message: string;
}

/** A reason's code and values, with its English text. */
export interface Reason {
  message: string;
  reason: ReasonCode;
  values?: ErrorValues;
}

/** Puts values in for the placeholders of a text. */
export function fillText(text: string, values: ErrorValues = {}): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    return value === undefined ? placeholder : Array.isArray(value) ? value.join(', ') : String(value);
  });
}

/** Makes the fault of one field. */
export function makeFault<Code extends FaultCode>(
  code: Code,
  ...[values]: ValuesOf<(typeof FAULTS)[Code]>
): Fault {
  return { message: fillText(FAULTS[code], values), code, ...(values && { values }) };
}

/** Returns what is wrong with a field, which it names unless the fault's text is a sentence by itself. */
export function faultSentence(
  field: string,
  { message, code }: Partial<CodedFault> & { message: string },
): string {
  return code && /^[A-Z{]/.test(FAULTS[code]) ? message : `${field} ${message}`;
}

/**
 * Makes the reason why a request is refused as a whole.
 * @param reason its code
 * @param values of the placeholders in its text, if there are any
 */
export function makeReason<Code extends ReasonCode>(
  reason: Code,
  ...[values]: ValuesOf<(typeof REASONS)[Code]>
): Reason {
  return { message: fillText(REASONS[reason], values), reason, ...(values && { values }) };
}

const READERS = (Object.keys(FAULTS) as FaultCode[]).map((code) => {
  const names = [...FAULTS[code].matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const literals = FAULTS[code].split(/\{\w+\}/).map((text) => text.replace(/[^\w\s]/g, '\\$&'));
  return { code, names, pattern: new RegExp(`^${literals.join('(.+)')}$`) };
});

/** Reads an English text back into its code and values; null for a text that is none of these. */
export function readFault(text: string): CodedFault | null {
  for (const { code, names, pattern } of READERS) {
    const found = pattern.exec(text)?.slice(1);
    if (found)
      return {
        code,
        ...(names[0] && { values: Object.fromEntries(names.map((name, n) => [name, found[n]!])) }),
      };
  }
  return null;
}

/** Makes the options of a validator whose faults the DTO words itself. */
export function validatorFault<Code extends FaultCode>(
  code: Code,
  ...values: ValuesOf<(typeof FAULTS)[Code]>
): { message: string; context: CodedFault } {
  const { message, ...context } = makeFault(code, ...values);
  return { message, context };
}
