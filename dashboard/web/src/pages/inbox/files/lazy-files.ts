import { lazyPart } from '../../../common/lazy-part';

const load = () => import('./file-parts');

// Parts that show files. They are loaded after the first page, because few messages have files.
export const ReplyFiles = lazyPart(() => load().then((parts) => parts.ReplyFiles));
export const MessageAttachments = lazyPart(() => load().then((parts) => parts.MessageAttachments));
export const OutgoingFiles = lazyPart(() => load().then((parts) => parts.OutgoingFiles));
export const Viewer = lazyPart(() => load().then((parts) => parts.Viewer));
