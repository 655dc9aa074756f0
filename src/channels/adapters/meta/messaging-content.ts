import {
  coordinates,
  isFilledObject,
  joinTexts,
  lookUp,
  objectOf,
  objectsOf,
  placeholder,
  ProviderObject,
  textOf,
} from '../provider-values';
import { isFileAddress } from './file-addresses';
import { listAttachments } from './messaging-files';

/** Makes the stored body: the text, and a line for each attachment and for the link that led to the chat. */
export function describeMessage(message: ProviderObject): string {
  const text = textOf(message.text);
  const attached = listAttachments(message)
    .filter((attachment) => text === null || !showsLink(text, attachment))
    .map(describeAttachment);
  const origin = isFilledObject(message.referral) ? [describeReferral(message.referral)] : [];
  return joinTexts([text, ...attached, ...origin], '\n') ?? placeholder(kindOf(message), null);
}

function kindOf({ is_unsupported: isUnsupported, reply_to: repliedTo }: ProviderObject): string {
  if (isUnsupported === true) return 'unsupported message';
  return isFilledObject(objectOf(repliedTo).story) ? 'story reply' : 'message';
}

/** Reports whether an attachment is only the preview of a link in the text. */
function showsLink(text: string, attachment: ProviderObject): boolean {
  const link = linkOf(attachment);
  return link !== null && text.includes(link);
}

/** Describes the link, advertisement, product or story from which a customer opened the chat. */
export function describeReferral({
  ref,
  ads_context_data: advertisement,
  product,
  source,
}: ProviderObject): string {
  const { ad_title: title } = objectOf(advertisement);
  const detail = joinTexts([ref, title, objectOf(product).id], ', ');
  return placeholder('referral', detail ?? textOf(source)?.replaceAll('_', ' ').toLowerCase() ?? null);
}

/** Readable names of attachment types whose name at Meta is unclear. */
const KINDS: Record<string, string> = {
  fallback: 'link',
  share: 'shared post',
  post: 'shared post',
  ig_post: 'shared post',
  ig_reel: 'reel',
  template: 'template',
  unsupported_type: 'unsupported message',
};

/** Attachment types that link to a page instead of a file. */
const LINKS = new Set<unknown>(['fallback', 'share', 'post']);

/** Returns the address of a page. The address of a file opens it for whoever reads it, so it is left out. */
function linkOf({ type, url, payload }: ProviderObject): string | null {
  const link = LINKS.has(type) ? (textOf(url) ?? textOf(objectOf(payload).url)) : null;
  return link === null || isFileAddress(link) ? null : link;
}

function describeAttachment(attachment: ProviderObject): string {
  const { type, title, payload } = attachment;
  const content = objectOf(payload);
  if (textOf(content.sticker_id) !== null) return placeholder('sticker', null);
  const name = textOf(type) ?? 'attachment';
  const kind = lookUp(KINDS, name) ?? name.replaceAll('_', ' ');
  const { lat, long } = objectOf(content.coordinates);
  const products = objectsOf(objectOf(content.product).elements).map((product) => product.title);
  const named = joinTexts([textOf(title) ?? content.title, ...products], ', ');
  return placeholder(kind, coordinates(lat, long) ?? joinTexts([named, linkOf(attachment)], ' '));
}
