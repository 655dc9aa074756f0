import { MessagingHost } from '../../support/messaging-host';
import { agentChanges } from './agent-changes';
import { apiKeyChanges } from './api-key-changes';
import { channelChanges } from './channel-changes';
import { conversationChanges } from './conversation-changes';
import { loginChanges } from './login-changes';
import { parkedEventChanges } from './parked-event-changes';
import { savedReplyChanges } from './saved-reply-changes';
import { Scenario } from './scenario';
import { webhookChanges } from './webhook-changes';
import { workspaceChanges } from './workspace-changes';

/** Scenarios that change a workspace, or who may do what in it. */
export function accessChanges(
  host: () => MessagingHost,
  rekeyed: () => MessagingHost,
): Record<string, Scenario> {
  return {
    ...workspaceChanges(host, rekeyed),
    ...agentChanges(host),
    ...apiKeyChanges(host),
    ...loginChanges(host),
  };
}

/** Scenarios that change what a workspace receives and sends, and over what. */
export function messagingChanges(host: () => MessagingHost): Record<string, Scenario> {
  return {
    ...webhookChanges(host),
    ...parkedEventChanges(host),
    ...channelChanges(host),
    ...conversationChanges(host),
    ...savedReplyChanges(host),
  };
}
