/**
 * English texts of the errors that a person can see in the dashboard, by code. An error carries its code and
 * the values of the text's `{placeholders}`, so that a page can show it in another language.
 * `dashboard/web/src/i18n/error-texts-de.ts` has the same codes in German. Codes are only added. The texts of
 * all features are in `fault-texts.ts` and `reason-texts.ts`, because two typed tables cost less than a
 * registry to which each feature adds its own.
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
