/** Kinds of renditions: the thumbnail of a picture, and a voice message that every browser plays. */
export type RenditionKind = 'thumbnail' | 'voice';

/** Content type of each rendition. */
export const RENDITION_TYPES: Record<RenditionKind, string> = {
  thumbnail: 'image/webp',
  voice: 'audio/mpeg',
};

const PICTURES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/avif'];

/** Returns the kind of rendition that a file of this type gets; null if it gets none. */
export function renditionOf(contentType: string): RenditionKind | null {
  if (PICTURES.includes(contentType)) return 'thumbnail';
  // Safari plays no Ogg.
  return contentType === 'audio/ogg' ? 'voice' : null;
}
