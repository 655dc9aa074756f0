import type { Agent, ApiKey, AuditEntry, ChannelConnection, EndpointListItem, Page } from '../../api/types';
import { useRead } from '../../api/workspace';
import { CHANNEL_LABELS } from '../../common/channel-logo';
import { shortId } from '../../common/short-id';
import { useLocale } from '../../i18n/locale';
import { AUDIT_NAMES } from './audit-names';
import { useAuditTexts } from './audit-texts';

interface AuditWords {
  /** Returns the words for a type of thing, such as `api_key`. */
  entity: (name: string) => string;
  /** Returns the words for an action, such as `api_key.revoked`. */
  action: (name: string) => string;
  /** Returns the words for an actor, which is an id, `operator:<name>` or `system`. */
  actor: (name: string) => string;
  /** Returns the name of the thing that an entry is about; null if it is not known. */
  thing: (entry: AuditEntry) => string | null;
}

/** Returns functions that write the audit log's codes in words. An unknown code's `_` becomes a space. */
export function useAuditWords(): AuditWords {
  const texts = useAuditTexts();
  const names = useNames();
  const { entities, acts } = AUDIT_NAMES[useLocale()];
  const entity = (name: string) => entities[name] ?? plain(name);
  return {
    entity,
    action: (name) => {
      const [thing, act] = splitAction(name);
      return act ? `${entity(thing)}: ${acts[act] ?? plain(act)}` : plain(name);
    },
    actor: (name) => {
      const [kind, operator] = name.split(':', 2);
      if (kind === 'operator')
        return operator ? `${texts.actors.operator}: ${operator}` : texts.actors.operator;
      if (name === 'system') return texts.actors.system;
      return names.get(name) ?? shortId(name);
    },
    thing: ({ entityId, metadata, after, before }) => {
      const known = names.get(entityId);
      if (known) return known;
      for (const values of [metadata, after, before])
        for (const field of ['name', 'url', 'channel', 'email'])
          if (typeof values?.[field] === 'string') return values[field];
      return null;
    },
  };
}

/** Returns the names of all agents, API keys, endpoints and channels by id, without deleted ones. */
function useNames(): Map<string, string> {
  const once = { refreshMs: false } as const;
  const agents = useRead<{ data: Agent[] }>('agents', {}, once);
  const keys = useRead<Page<ApiKey>>('api-keys', {}, once);
  const endpoints = useRead<Page<EndpointListItem>>('webhook-endpoints', {}, once);
  const channels = useRead<{ data: ChannelConnection[] }>('channels', {}, once);
  return new Map([
    ...(agents.data?.data ?? []).map(({ id, name }) => [id, name] as const),
    ...(keys.data?.data ?? []).map(({ id, name }) => [id, name] as const),
    ...(endpoints.data?.data ?? []).map(({ id, name, url }) => [id, name ?? url] as const),
    ...(channels.data?.data ?? []).map(({ id, channel }) => [id, CHANNEL_LABELS[channel]] as const),
  ]);
}

function splitAction(name: string): [string, string | undefined] {
  const [thing = name, act] = name.split('.', 2);
  return [thing, act];
}

function plain(name: string): string {
  return name.replaceAll('_', ' ');
}
