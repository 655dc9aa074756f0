import { isStorableText } from '../../common/validators';

/** Longer than any provider's, and short enough for an index. */
const MAX_LENGTH = 512;

/** Whether an id that came from a provider can be kept and looked up. What can't be is nobody's. */
export function isUsableId(id: string): boolean {
  return id !== '' && id.length <= MAX_LENGTH && isStorableText(id);
}
