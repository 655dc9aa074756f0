import { isStorableText } from '../../common/validators';

/** Longer than any provider's id, and short enough for an index. */
const MAX_LENGTH = 512;

/** Whether an id from a provider can be stored and looked up. */
export function isUsableId(id: string): boolean {
  return id !== '' && id.length <= MAX_LENGTH && isStorableText(id);
}
