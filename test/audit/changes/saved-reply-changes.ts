import { SYSTEM } from '../../../src/access/principal';
import { describeText } from '../../../src/audit/changed-values';
import { SavedRepliesService } from '../../../src/inbox/saved-replies/saved-replies.service';
import { MessagingHost } from '../../support/messaging-host';
import { Scenario } from './scenario';

/** Scenarios that change saved replies. */
export function savedReplyChanges(host: () => MessagingHost): Record<string, Scenario> {
  const replies = () => host().get(SavedRepliesService);
  const reply = { name: 'Thanks', body: 'Thank you.' };
  const described = { name: 'Thanks', body: describeText('Thank you.') };
  return {
    'saved_reply.created': {
      method: 'SavedRepliesService.create',
      permission: 'saved_reply.create',
      prepare:
        ({ workspace }, actor) =>
        async () => {
          const { id } = await replies().create(workspace.id, reply, actor);
          return { entity: 'saved_reply', entityId: id, after: described };
        },
    },
    'saved_reply.updated': {
      method: 'SavedRepliesService.update',
      permission: 'saved_reply.update',
      prepare: async ({ workspace }, actor) => {
        const { id } = await replies().create(workspace.id, reply, SYSTEM);
        return async () => {
          await replies().update(workspace.id, id, { body: 'Thanks!' }, actor);
          const changed = { before: { body: described.body }, after: { body: describeText('Thanks!') } };
          return { entity: 'saved_reply', entityId: id, ...changed };
        };
      },
    },
    'saved_reply.deleted': {
      method: 'SavedRepliesService.delete',
      permission: 'saved_reply.delete',
      prepare: async ({ workspace }, actor) => {
        const { id } = await replies().create(workspace.id, reply, SYSTEM);
        return async () => {
          await replies().delete(workspace.id, id, actor);
          return { entity: 'saved_reply', entityId: id, before: described };
        };
      },
    },
  };
}
