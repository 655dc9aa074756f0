import { FoldedTexts1795801000000 } from './1795801000000-folded-texts';

/**
 * Writes the texts by which contacts and messages are found again, in the form in which the service compares
 * texts now. It can be called again after a failure.
 */
export class RefoldedTexts1795807000000 extends FoldedTexts1795801000000 {
  /** Leaves the texts: the former version writes each of them anew when it changes. */
  override async down(): Promise<void> {}
}
