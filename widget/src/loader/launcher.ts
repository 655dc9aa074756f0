import type { LauncherControl } from '../app-contract';
import type { WidgetSettings } from '../page-api';
import launcherCss from './launcher.css?inline';

type LauncherState = 'ready' | 'loading' | 'failed';

/** Before the app is there, which has the texts of all languages. */
const LABELS: Record<'en' | 'de', Record<LauncherState, string>> = {
  en: { ready: 'Open chat', loading: 'Opening chat…', failed: 'The chat could not be loaded. Try again' },
  de: {
    ready: 'Chat öffnen',
    loading: 'Chat wird geöffnet…',
    failed: 'Der Chat konnte nicht geladen werden. Erneut versuchen',
  },
};

const SHAPES = {
  chat: 'M12 3.5c-5 0-9 3.3-9 7.5 0 2.3 1.2 4.3 3.1 5.7-.1 1.3-.6 2.4-1.3 3.3 1.9-.2 3.5-.9 4.7-1.8.8.2 1.6.3 2.5.3 5 0 9-3.3 9-7.5s-4-7.5-9-7.5z',
  close: 'M6 9.5l6 6 6-6',
  retry: 'M12 6v7m0 4.5v.01',
};

/** The element of the widget in the page, and the button that opens it. */
export class Launcher implements LauncherControl {
  readonly shadow: ShadowRoot;
  readonly button = document.createElement('button');
  private readonly host = document.createElement('chat-widget');
  private readonly badge = document.createElement('span');
  private state: LauncherState = 'ready';

  constructor() {
    this.shadow = this.host.attachShadow({ mode: 'open' });
    const styles = new CSSStyleSheet();
    styles.replaceSync(launcherCss);
    this.shadow.adoptedStyleSheets = [styles];
    this.button.className = 'launcher';
    this.button.type = 'button';
    this.button.setAttribute('aria-expanded', 'false');
    this.button.setAttribute('aria-haspopup', 'dialog');
    this.badge.className = 'badge';
    this.badge.hidden = true;
    this.badge.ariaHidden = 'true';
    this.button.append(...(['chat', 'close', 'retry'] as const).map(icon), this.badge);
    this.shadow.append(this.button);
    this.setState('ready', {});
    // Some pages replace their body when the visitor goes on.
    new MutationObserver(() => this.attach()).observe(document.documentElement, { childList: true });
  }

  /** In the page, as the settings say. */
  show(settings: WidgetSettings): void {
    this.host.dataset['theme'] = settings.theme ?? 'auto';
    this.host.dataset['position'] = settings.position ?? (isRightToLeft() ? 'left' : 'right');
    if (this.state !== 'ready' || this.button.ariaExpanded === 'false') this.setState(this.state, settings);
    this.attach();
  }

  setState(state: LauncherState, settings: WidgetSettings): void {
    this.state = state;
    this.button.dataset['state'] = state;
    this.button.ariaBusy = String(state === 'loading');
    const language = settings.locale ?? (document.documentElement.lang || navigator.language);
    const label = LABELS[/^de\b/i.test(language) ? 'de' : 'en'][state];
    this.setLabel((state === 'ready' && settings.texts?.openChat) || label);
  }

  setLabel(label: string): void {
    this.button.ariaLabel = this.button.title = label;
  }

  setUnread(count: number): void {
    this.badge.hidden = count === 0;
    this.badge.textContent = count > 9 ? '9+' : String(count);
  }

  setExpanded(expanded: boolean): void {
    this.button.ariaExpanded = String(expanded);
  }

  private attach(): void {
    if (!this.host.isConnected) document.body?.append(this.host);
  }
}

function isRightToLeft(): boolean {
  return getComputedStyle(document.documentElement).direction === 'rtl';
}

function icon(name: keyof typeof SHAPES): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(svg.namespaceURI, 'path') as SVGPathElement;
  path.setAttribute('d', SHAPES[name]);
  svg.append(path);
  return svg;
}
