import type { h, VNode } from 'preact';
import type { Texts } from '../locales/en';
import type { ItemFile } from './item-files';

// Contract between the app and the parts that draw files, which the app loads when it shows the first file.
// During an upgrade, an app of one build may get the parts of another, so nothing in this file may be removed
// or changed.

export interface FilePartsModule {
  createFileParts: (host: FileHost) => FileParts;
}

export interface FileHost {
  /** Preact's function of the app, because the parts do not contain Preact. */
  h: typeof h;
  /** Root in which the panel is drawn. The viewer of pictures is added to it. */
  shadow: ShadowRoot;
  texts: () => Texts;
  /** BCP 47 tag of the panel's language. */
  languageTag: () => string;
  /**
   * Reads the bytes of a file, from this browser or else from the service.
   *
   * @throws Error if the service does not answer or does not have the file
   */
  read: (file: ItemFile) => Promise<Blob>;
  /** Returns how much of a file is sent, from 0 to 1. */
  progressOf: (fileId: string) => number;
}

export interface FileParts {
  /** Returns the size of a picture from its first bytes; null if these are of no picture that is drawn. */
  measure: (blob: Blob) => Promise<{ width: number; height: number } | null>;
  /** Draws the files of a message. */
  drawFiles: (files: readonly ItemFile[]) => VNode;
  /** Draws the picture of a chosen file, or its symbol. */
  drawThumbnail: (file: ItemFile) => VNode;
  /** Style sheet of the parts. */
  styles: CSSStyleSheet;
}
