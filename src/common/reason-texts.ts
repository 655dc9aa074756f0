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
