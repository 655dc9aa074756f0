import type { CDPSession, Page } from 'playwright-core';

/** Codes of keys without a letter, as the browser has them in `keyCode`. */
const KEY_CODES: Record<string, number> = { Enter: 13, Escape: 27, ArrowDown: 40 };

/** Input method and keyboard of a page, which compose texts and have letters of any script. */
export class InputMethod {
  private constructor(private readonly session: CDPSession) {}

  static async on(page: Page): Promise<InputMethod> {
    return new InputMethod(await page.context().newCDPSession(page));
  }

  /** Shows a text in the focused field that is not chosen yet. */
  async compose(text: string): Promise<void> {
    const end = text.length;
    await this.session.send('Input.imeSetComposition', { text, selectionStart: end, selectionEnd: end });
  }

  /** Ends the composition with a text. */
  async choose(text: string): Promise<void> {
    await this.session.send('Input.insertText', { text });
  }

  /** Presses a key of a layout, such as `л` at `KeyK`, without writing it. */
  async press(key: string, code = key, { control = false } = {}): Promise<void> {
    const windowsVirtualKeyCode = KEY_CODES[key] ?? code.charCodeAt(code.length - 1);
    const press = { key, code, windowsVirtualKeyCode, modifiers: control ? 2 : 0 };
    await this.session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...press });
    await this.session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...press });
  }
}
