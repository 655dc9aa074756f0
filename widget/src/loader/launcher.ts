import type { WidgetSettings } from '../page-api';
import launcherCss from './launcher.css?inline';

type LauncherState = 'ready' | 'loading' | 'failed';

/** Minimum pause between two insertions of the element, because some pages remove it again and again. */
const INSERT_EVERY_MS = 500;

/** Labels of the button until the app is loaded. The app contains all other texts. */
const LABELS: Record<'en' | 'de', Record<LauncherState, string>> = {
  en: { ready: 'Open chat', loading: 'Opening chat…', failed: 'Chat not loaded. Try again' },
  de: {
    ready: 'Chat öffnen',
    loading: 'Chat wird geöffnet…',
    failed: 'Chat nicht geladen. Erneut versuchen',
  },
};

const SVG = 'http://www.w3.org/2000/svg';
const BUBBLE =
  'M12 3.5c-5 0-9 3.3-9 7.5 0 2.3 1.2 4.3 3.1 5.7-.1 1.3-.6 2.4-1.3 3.3 1.9-.2 3.5-.9 4.7-1.8.8.2 1.6.3 2.5.3 5 0 9-3.3 9-7.5s-4-7.5-9-7.5z';

/**
 * Creates the widget's element, with the button that opens the panel. The element is inserted after `body`,
 * because filters and transforms of `body` do not move it there, and few pages replace elements there.
 */
export class Launcher {
  readonly button = document.createElement('button');
  readonly shadow: ShadowRoot;
  /** Style sheets, which a browser removes from an element that moves to another document. */
  private styles: CSSStyleSheet[] = [];
  private readonly host = document.createElement('chat-widget');
  private readonly observer = new MutationObserver(() => this.attach());
  private root: Element | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private state: LauncherState = 'ready';
  settings: WidgetSettings = {};

  /**
   * @param onNewRoot called when the element is inserted into a new root element of the document, as after
   *   `document.open`, which removes all listeners of the window and the document
   */
  constructor(private readonly onNewRoot: () => void) {
    const { button, host } = this;
    const styles = new CSSStyleSheet();
    styles.replaceSync(launcherCss);
    const shadow = (this.shadow = host.attachShadow({ mode: 'open' }));
    shadow.adoptedStyleSheets = this.styles = [styles];
    button.className = 'launcher';
    button.type = 'button';
    button.ariaHasPopup = 'dialog';
    button.ariaExpanded = 'false';
    const icon = document.createElementNS(SVG, 'svg');
    const path = document.createElementNS(SVG, 'path');
    icon.setAttribute('viewBox', '0 0 24 24');
    path.setAttribute('d', BUBBLE);
    icon.append(path);
    button.append(icon);
    shadow.append(button);
    this.observer.observe(document, { childList: true });
  }

  /** Changes the given settings, applies all settings to the button, and inserts it into the page. */
  show(changes?: WidgetSettings): void {
    this.settings = { ...this.settings, ...changes };
    this.place();
    this.attach();
  }

  readonly keepStyles = (): void => {
    this.styles = [...this.shadow.adoptedStyleSheets];
  };

  setState(state: LauncherState): void {
    const { button, settings } = this;
    this.state = button.dataset['state'] = state;
    button.ariaBusy = String(state === 'loading');
    const language = settings.locale || document.documentElement.lang || navigator.language;
    const label = LABELS[/^de\b/i.test(language) ? 'de' : 'en'][state];
    button.ariaLabel = button.title = (state === 'ready' && settings.texts?.openChat) || label;
  }

  private place(): void {
    const { settings } = this;
    const { dataset } = this.host;
    const isRightToLeft = getComputedStyle(document.documentElement).direction === 'rtl';
    dataset['theme'] = settings.theme ?? 'auto';
    dataset['position'] = settings.position ?? (isRightToLeft ? 'left' : 'right');
    this.setState(this.state);
  }

  /** Inserts the element unless it is in the page, at most once in 500 ms. */
  private attach(): void {
    const { host } = this;
    const root = document.documentElement;
    if (root) this.observer.observe(root, { childList: true });
    // A page may have moved the element to another document, in which `isConnected` is also true.
    const isHere = host.isConnected && host.ownerDocument === document;
    if (isHere || !document.body || this.timer) return;
    // Copies are removed, because a page that rewrites its own HTML makes an empty copy of the element.
    document.querySelectorAll('chat-widget').forEach((copy) => copy.remove());
    root.append(host);
    this.shadow.adoptedStyleSheets = this.styles;
    if (root !== this.root) {
      this.root = root;
      this.place();
      this.onNewRoot();
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.attach();
    }, INSERT_EVERY_MS);
  }
}
