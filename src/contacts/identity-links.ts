import { Channel } from '../common/channel-descriptors';
import { IdentityKind, identityKind } from './identity-forms';

/** Id of a contact on a channel, as it is stored. */
export interface StoredIdentity {
  externalId: string;
  contactId: string;
  /** Time at which the provider said that the person has another id instead; null if it did not. */
  replacedAt: Date | null;
}

/** Ids of one person that a provider has named together. */
export interface NamedIds {
  channel: Channel;
  ids: string[];
  /** Ids that the person had before, if the provider tells of a change. */
  previousIds?: string[];
}

/** Changes of the stored ids that follow from ids that were named together. */
export interface IdentityLink {
  /** Contact who has the ids; null when it is nobody whom the workspace knows. */
  contactId: string | null;
  /** Other contacts who are the same person. */
  same: string[];
  /** Ids that are not the contact's yet, and are nobody's or another person's by now. */
  gained: string[];
  /** Contacts who have some of the gained ids until now. */
  losers: string[];
  /** Ids of the contact, and of the same person, that the person has no longer. */
  replaced: string[];
  /** Ids of the contact that were replaced, and are the person's again. */
  restored: string[];
}

/** Kinds of ids, the strongest first: a number is given out again, a business-scoped id is not. */
const BY_STRENGTH: IdentityKind[] = ['user', 'parent', 'phone'];

/**
 * Decides whose the ids are that a provider has named together. What is stored contradicts them if a contact
 * has only other ids of a kind that was named: then an id moves to its present owner, and nobody is joined.
 * @param stored all ids on the channel of each contact who has one of the named ids
 */
export function linkIdentities(named: NamedIds, stored: StoredIdentity[]): IdentityLink {
  const { channel, ids, previousIds = [] } = named;
  const kindOf = (id: string) => identityKind(channel, id);
  const strength = (id: string) => BY_STRENGTH.indexOf(kindOf(id));
  const all = [...ids, ...previousIds];
  const byId = new Map(stored.map((identity) => [identity.externalId, identity]));
  const present = (contactId: string, kind: IdentityKind) =>
    stored.filter(
      (one) => one.contactId === contactId && one.replacedAt === null && kindOf(one.externalId) === kind,
    );
  const hasOnlyOthers = (contactId: string, kind: IdentityKind) => {
    const own = present(contactId, kind);
    return own.length > 0 && !own.some(({ externalId }) => all.includes(externalId));
  };
  const namesKind = (kind: IdentityKind) => all.some((id) => kindOf(id) === kind);

  /** Reports whether a phone number has a new holder: it comes with an id that is not its contact's. */
  const isGivenOut = (id: string): boolean => {
    const identity = byId.get(id)!;
    if (kindOf(id) !== 'phone' || !namesKind('user')) return false;
    return identity.replacedAt !== null || hasOnlyOthers(identity.contactId, 'user');
  };
  const isSame = (one: string, other: string): boolean =>
    BY_STRENGTH.every((kind) => {
      if (namesKind(kind)) return !hasOnlyOthers(one, kind) && !hasOnlyOthers(other, kind);
      return present(one, kind).length === 0 || present(other, kind).length === 0;
    });

  const known = (among: string[]) =>
    among.filter((id) => byId.has(id)).sort((a, b) => strength(a) - strength(b));
  const ownerId = known(previousIds)[0] ?? known(ids).find((id) => !isGivenOut(id));
  const contactId = ownerId === undefined ? null : byId.get(ownerId)!.contactId;
  const others = [...new Set(known(ids).map((id) => byId.get(id)!.contactId))].filter(
    (id) => id !== contactId,
  );
  const same =
    contactId === null
      ? []
      : others.filter(
          (other) =>
            isSame(contactId, other) &&
            known(ids).some((id) => byId.get(id)!.contactId === other && byId.get(id)!.replacedAt === null),
        );
  const owners = [contactId, ...same];
  const gained = ids.filter((id) => !owners.includes(byId.get(id)?.contactId ?? ''));
  const losers = [...new Set(known(gained).map((id) => byId.get(id)!.contactId))];
  const replaced =
    previousIds.length === 0
      ? []
      : stored
          .filter((one) => owners.includes(one.contactId) && one.replacedAt === null)
          .map(({ externalId }) => externalId)
          .filter((id) => !ids.includes(id));
  const restored =
    previousIds.length === 0
      ? []
      : ids.filter((id) => !gained.includes(id) && byId.get(id)!.replacedAt !== null);
  return { contactId, same, gained, losers, replaced, restored };
}
