import type { Channel } from './channel-descriptors';

/** Kinds of files, by their bytes. A FILE is no picture that browsers draw, no audio and no video. */
export const FILE_KINDS = ['IMAGE', 'AUDIO', 'VIDEO', 'FILE'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** Forms in which a channel takes a file. */
export const FILE_FORMS = ['image', 'audio', 'video', 'file'] as const;
export type FileForm = (typeof FILE_FORMS)[number];

/** Maximum number of files of one message. */
export const MAX_FILES = 10;
export const MEBIBYTE = 1024 * 1024;
/** Largest file that any channel takes. */
export const MAX_FILE_BYTES = 100 * MEBIBYTE;

export interface FormLimit {
  maxBytes: number;
  /** Content types that the channel takes in this form; null for all. */
  types: readonly string[] | null;
}

export interface ChannelFileLimits {
  /** Limit of each form; null if the channel has no such form. */
  forms: Record<FileForm, FormLimit | null>;
  /** Longest caption in characters; null if a caption is a message of its own. */
  captionCharacters: number | null;
}

const atMost = (mebibytes: number, types: readonly string[] | null = null): FormLimit => ({
  maxBytes: mebibytes * MEBIBYTE,
  types,
});

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const WHATSAPP_DOCUMENTS = [
  'text/plain',
  'application/pdf',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  `${OFFICE}.wordprocessingml.document`,
  `${OFFICE}.spreadsheetml.sheet`,
  `${OFFICE}.presentationml.presentation`,
];
const INSTAGRAM_AUDIO = ['audio/aac', 'audio/mp4', 'audio/wav', 'audio/x-m4a'];
const INSTAGRAM_VIDEO = ['video/mp4', 'video/ogg', 'video/x-msvideo', 'video/quicktime', 'video/webm'];

/**
 * Limits of files on each channel. A file is refused before it is sent, so that an agent learns of a limit
 * while there is something to choose. Sources: the providers' documentation.
 */
export const FILE_LIMITS: Record<Channel, ChannelFileLimits> = {
  WIDGET: {
    forms: { image: atMost(25), audio: atMost(25), video: atMost(25), file: atMost(25) },
    captionCharacters: 1024,
  },
  WHATSAPP: {
    forms: {
      image: atMost(5, ['image/jpeg', 'image/png']),
      audio: atMost(16, ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg']),
      video: atMost(16, ['video/mp4', 'video/3gpp']),
      file: atMost(100, WHATSAPP_DOCUMENTS),
    },
    captionCharacters: 1024,
  },
  TELEGRAM: {
    forms: {
      image: atMost(10, ['image/jpeg', 'image/png', 'image/webp']),
      audio: atMost(50, ['audio/mpeg', 'audio/mp4', 'audio/ogg']),
      video: atMost(50, ['video/mp4']),
      file: atMost(50),
    },
    captionCharacters: 1024,
  },
  MESSENGER: {
    forms: {
      image: atMost(8, ['image/jpeg', 'image/png', 'image/gif']),
      audio: atMost(25),
      video: atMost(25),
      file: atMost(25),
    },
    captionCharacters: null,
  },
  INSTAGRAM: {
    forms: {
      image: atMost(8, ['image/jpeg', 'image/png']),
      audio: atMost(25, INSTAGRAM_AUDIO),
      video: atMost(25, INSTAGRAM_VIDEO),
      file: atMost(25, ['application/pdf']),
    },
    captionCharacters: null,
  },
};

/** Types of programs, which no channel delivers. */
const PROGRAMS = [
  'application/x-msdownload',
  'application/x-msi',
  'application/x-elf',
  'application/x-mach-binary',
  'application/vnd.android.package-archive',
  'application/x-sh',
];

const FORM_OF_KIND = { IMAGE: 'image', AUDIO: 'audio', VIDEO: 'video', FILE: 'file' } as const;

export interface FileOnChannel {
  kind: FileKind;
  contentType: string;
  size: number;
}

/** Form in which a channel takes a file; or why it takes it in none, with the limit. */
export type FormOnChannel =
  | { form: FileForm }
  | { refusal: 'type' }
  | { refusal: 'too_large'; form: FileForm; maxBytes: number };

/**
 * Tells in which form a channel takes a file: in the form of its kind, or as a plain file if the channel does
 * not take it as a picture, audio or video.
 */
export function formOnChannel(channel: Channel, { kind, contentType, size }: FileOnChannel): FormOnChannel {
  if (PROGRAMS.includes(contentType)) return { refusal: 'type' };
  const { forms } = FILE_LIMITS[channel];
  const candidates = [...new Set<FileForm>([FORM_OF_KIND[kind], 'file'])].filter((form) => {
    const types = forms[form] ? forms[form].types : [];
    return types === null || types.includes(contentType);
  });
  const fitting = candidates.find((form) => size <= forms[form]!.maxBytes);
  if (fitting) return { form: fitting };
  const largest = candidates.at(-1);
  if (!largest) return { refusal: 'type' };
  return { refusal: 'too_large', form: largest, maxBytes: forms[largest]!.maxBytes };
}

/** Returns the size of the largest file that a channel takes in any form. */
export function maxBytesOn(channel: Channel): number {
  return Math.max(...FILE_FORMS.map((form) => FILE_LIMITS[channel].forms[form]?.maxBytes ?? 0));
}

/** Forms beside which a provider takes no caption, although it takes one beside others. */
const WITHOUT_CAPTION: Partial<Record<Channel, readonly FileForm[]>> = { WHATSAPP: ['audio'] };

/** Reports whether a channel takes a text as the caption of a file; if not, it is a message of its own. */
export function isCaptionOn(channel: Channel, form: FileForm, text: string): boolean {
  const { captionCharacters } = FILE_LIMITS[channel];
  if (captionCharacters === null || WITHOUT_CAPTION[channel]?.includes(form)) return false;
  return [...text].length <= captionCharacters;
}
