// All parts that show files, in one module, so that they are one file to load. Several files would also split
// the files of the first page, which then load more bytes.
export { MessageAttachments } from './message-attachments';
export { OutgoingFiles } from './outgoing-files';
export { ReplyFiles } from './reply-files';
export { Viewer } from './viewer';
