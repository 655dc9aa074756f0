type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** Texts of the widget. `{count}` and `{limit}` stand for numbers, `{name}` for an agent or a file. */
export interface Texts {
  openChat: string;
  unread: Plural;
  closeChat: string;
  title: string;
  welcome: string;
  messages: string;
  loading: string;
  earlier: string;
  newMessages: string;
  message: string;
  placeholder: string;
  send: string;
  count: string;
  you: string;
  support: string;
  online: string;
  typing: string;
  dismiss: string;
  sending: string;
  sent: string;
  read: string;
  notSent: string;
  deleted: string;
  more: string;
  edit: string;
  remove: string;
  editing: string;
  cancel: string;
  save: string;
  edited: string;
  notChanged: string;
  tryAgain: string;
  attach: string;
  files: string;
  removeFile: string;
  showPicture: string;
  saveFile: string;
  play: string;
  notLoaded: string;
  unavailableFile: string;
  tooManyFiles: string;
  fileTooLarge: string;
  fileEmpty: string;
  fileNotKept: string;
  fileRefused: string;
  fileGone: string;
  noRoom: string;
  noFiles: string;
  offline: string;
  unreachable: string;
  unavailable: string;
  identity: string;
  formIntroduction: string;
  name: string;
  email: string;
  optional: string;
  startChat: string;
  required: string;
  invalidEmail: string;
}

export const en: Texts = {
  openChat: 'Open chat',
  unread: {
    one: 'Open chat, {count} unread message',
    other: 'Open chat, {count} unread messages',
  },
  closeChat: 'Close chat',
  title: 'Chat',
  welcome: 'Hello! How can we help you?',
  messages: 'Messages',
  loading: 'Loading messages…',
  earlier: 'Earlier messages',
  newMessages: 'New messages',
  message: 'Message',
  placeholder: 'Write a message…',
  send: 'Send',
  count: '{count} of {limit} characters',
  you: 'You',
  support: 'Support',
  online: 'We are online',
  typing: '{name} is typing…',
  dismiss: 'Dismiss',
  sending: 'Sending…',
  sent: 'Sent',
  read: 'Read',
  notSent: 'Not sent',
  deleted: 'This message was deleted.',
  more: 'Edit or delete',
  edit: 'Edit',
  remove: 'Delete',
  editing: 'Editing a message',
  cancel: 'Cancel',
  save: 'Save',
  edited: 'Edited',
  notChanged: 'The message was not changed. Please try again.',
  tryAgain: 'Try again',
  attach: 'Attach files',
  files: 'Files',
  removeFile: 'Remove {name}',
  showPicture: 'Show {name}',
  saveFile: 'Save {name}',
  play: 'Play {name}',
  notLoaded: 'The file could not be loaded. Please try again.',
  unavailableFile: 'This file is not available.',
  tooManyFiles: 'A message can have at most {limit} files.',
  fileTooLarge: '{name}: a file can have at most {limit} MB.',
  fileEmpty: '{name}: this file is empty or cannot be read.',
  fileNotKept: 'This browser cannot store the file. Keep this page open until it is sent.',
  fileRefused: 'This kind of file is not accepted.',
  fileGone: 'This browser does not have the file any more. Please choose it again.',
  noRoom: 'No more files are accepted at the moment.',
  noFiles: 'A message that is being edited takes no files.',
  offline: 'You are offline. Messages are sent when you are back.',
  unreachable: 'No connection to the chat. Messages are sent when it is back.',
  unavailable: 'This chat is not available at the moment.',
  identity: 'Your login has expired. Reload the page to go on.',
  formIntroduction: 'Tell us who you are, so that we can answer you.',
  name: 'Name',
  email: 'E-mail',
  optional: 'optional',
  startChat: 'Start chat',
  required: 'Please fill this in.',
  invalidEmail: 'Please write an e-mail address, such as name@example.com.',
};
