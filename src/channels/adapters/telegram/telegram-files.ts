import { OutboundFile } from '../outbound-file';
import { objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';

/** Returns the method that sends a file, and the parameter that it has for the file. */
export function methodOf({ form, contentType }: Pick<OutboundFile, 'form' | 'contentType'>): {
  method: string;
  field: string;
} {
  switch (form) {
    case 'image':
      return { method: 'sendPhoto', field: 'photo' };
    case 'video':
      return { method: 'sendVideo', field: 'video' };
    case 'audio':
      // Ogg is a voice message at Telegram, and no music.
      if (contentType === 'audio/ogg') return { method: 'sendVoice', field: 'voice' };
      return { method: 'sendAudio', field: 'audio' };
    case 'file':
      return { method: 'sendDocument', field: 'document' };
  }
}

/** Returns Telegram's id of the file in a sent message; null if it has become another kind of file. */
export function readFileId(body: unknown, field: string): string | null {
  const result: ProviderObject = objectOf(objectOf(body).result);
  const file = field === 'photo' ? objectsOf(result.photo).at(-1) : objectOf(result[field]);
  return textOf(file?.file_id);
}
