import type { AttachmentProblem, FileForm, Locale } from '../../../api/types';
import { useLocale } from '../../../i18n/locale';

const en = {
  attach: 'Attach files',
  chosen: 'Chosen files',
  drop: 'Drop files to attach them',
  limits: (channel: string, count: string, sizes: string) =>
    `${channel} takes up to ${count} files: ${sizes}.`,
  upTo: (form: string, size: string) => `${form} up to ${size}`,
  forms: { image: 'pictures', audio: 'audio', video: 'video', file: 'other files' } as Record<
    FileForm,
    string
  >,
  waiting: 'Waiting…',
  uploading: (percent: string) => `${percent} %`,
  uploadOf: (name: string) => `Upload of ${name}`,
  uploaded: 'Uploaded',
  offline: 'No connection. It goes on by itself.',
  cancel: (name: string) => `Cancel the upload of ${name}`,
  remove: (name: string) => `Remove ${name}`,
  tryAgain: (name: string) => `Upload ${name} again`,
  caption: (name: string) => `Caption of ${name}`,
  captionPlaceholder: 'Caption',
  separateCaption: (channel: string) => `${channel} shows a caption as a message of its own.`,
  refusal: {
    empty: 'The file is empty.',
    too_large: (channel: string, max: string) => `Too large for ${channel}: ${max} at most.`,
    type: (channel: string) => `${channel} takes no files of this type.`,
    unreadable: 'The browser cannot read it. Folders cannot be attached.',
    lost: 'This browser has it no longer. Remove it and choose it again.',
  },
  tooMany: (count: string) => `A reply takes ${count} files. The others were left out.`,
  kinds: { IMAGE: 'Picture', AUDIO: 'Audio', VIDEO: 'Video', FILE: 'File' },
  open: (name: string) => `Open ${name}`,
  save: (name: string) => `Save ${name}`,
  pending: 'Being fetched…',
  linkOnly: (channel: string) => `It stays at ${channel} and is not fetched. Look at it there.`,
  problems: {
    GONE: 'The channel has deleted it.',
    TOO_BIG: 'It is too large to be fetched.',
    FORBIDDEN: 'The channel does not hand it out.',
    REAUTH: 'The channel refuses its credentials. An owner or an admin enters new ones.',
    FULL: 'The files of this workspace have used up their space.',
    EXHAUSTED: 'The channel did not deliver it, however often it was tried.',
    UNREADABLE: 'The channel delivered another file than it had announced.',
  } as Record<AttachmentProblem, string>,
  failed: 'It could not be fetched.',
  fetchAgain: 'Fetch again',
  notShown: 'The browser cannot show it.',
  viewer: 'Picture',
  previous: 'Previous picture',
  next: 'Next picture',
  position: (at: string, of: string) => `${at} of ${of}`,
};

type FileTexts = typeof en;

const de: FileTexts = {
  attach: 'Dateien anhängen',
  chosen: 'Gewählte Dateien',
  drop: 'Dateien hier ablegen, um sie anzuhängen',
  limits: (channel, count, sizes) => `${channel} nimmt bis zu ${count} Dateien: ${sizes}.`,
  upTo: (form, size) => `${form} bis ${size}`,
  forms: { image: 'Bilder', audio: 'Audio', video: 'Video', file: 'andere Dateien' },
  waiting: 'Wartet…',
  uploading: (percent) => `${percent} %`,
  uploadOf: (name) => `Hochladen von ${name}`,
  uploaded: 'Hochgeladen',
  offline: 'Keine Verbindung. Es geht von selbst weiter.',
  cancel: (name) => `Hochladen von ${name} abbrechen`,
  remove: (name) => `${name} entfernen`,
  tryAgain: (name) => `${name} noch einmal hochladen`,
  caption: (name) => `Beschriftung von ${name}`,
  captionPlaceholder: 'Beschriftung',
  separateCaption: (channel) => `${channel} zeigt eine Beschriftung als eigene Nachricht.`,
  refusal: {
    empty: 'Die Datei ist leer.',
    too_large: (channel, max) => `Zu groß für ${channel}: höchstens ${max}.`,
    type: (channel) => `${channel} nimmt keine Dateien dieser Art.`,
    unreadable: 'Der Browser kann sie nicht lesen. Ordner lassen sich nicht anhängen.',
    lost: 'Dieser Browser hat sie nicht mehr. Entfernen Sie sie und wählen Sie sie noch einmal.',
  },
  tooMany: (count) => `Eine Antwort nimmt ${count} Dateien. Die übrigen wurden weggelassen.`,
  kinds: { IMAGE: 'Bild', AUDIO: 'Audio', VIDEO: 'Video', FILE: 'Datei' },
  open: (name) => `${name} öffnen`,
  save: (name) => `${name} speichern`,
  pending: 'Wird geholt…',
  linkOnly: (channel) => `Sie bleibt bei ${channel} und wird nicht geholt. Sehen Sie sie dort an.`,
  problems: {
    GONE: 'Der Kanal hat sie gelöscht.',
    TOO_BIG: 'Sie ist zu groß, um geholt zu werden.',
    FORBIDDEN: 'Der Kanal gibt sie nicht heraus.',
    REAUTH: 'Der Kanal lehnt seine Zugangsdaten ab. Ein Eigentümer oder Admin gibt neue ein.',
    FULL: 'Die Dateien dieses Workspace haben ihren Platz aufgebraucht.',
    EXHAUSTED: 'Der Kanal hat sie trotz aller Versuche nicht geliefert.',
    UNREADABLE: 'Der Kanal hat eine andere Datei geliefert als angekündigt.',
  },
  failed: 'Sie konnte nicht geholt werden.',
  fetchAgain: 'Noch einmal holen',
  notShown: 'Der Browser kann sie nicht zeigen.',
  viewer: 'Bild',
  previous: 'Voriges Bild',
  next: 'Nächstes Bild',
  position: (at, of) => `${at} von ${of}`,
};

const TEXTS: Record<Locale, FileTexts> = { en, de };

/** Returns the texts about files. They are loaded with the parts that show files, after the first page. */
export function useFileTexts(): FileTexts {
  return TEXTS[useLocale()];
}
