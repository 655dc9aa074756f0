import type { AppModule, ChatApp, LoaderContext } from '../app-contract';
import type { Identity, WidgetEvents, WidgetSettings } from '../page-api';
import { Launcher } from './launcher';

type Listener = (detail: unknown) => void;
type Site = Pick<LoaderContext, 'fetch' | 'XMLHttpRequest' | 'serviceUrl' | 'siteKey'>;

/** Loads the app once, and passes on the calls that the page made before the app was loaded. */
export class AppLoader {
  /** Identity from the page's `identify`; null after its `logout`; undefined before either call. */
  private identity: Identity | null | undefined;
  private app: ChatApp | undefined;
  private loading: Promise<void> | undefined;
  private attempts = 0;
  /** Latest request to open or close the panel; undefined if there was none. */
  private wish: 'open' | 'close' | undefined;
  private readonly listeners = new Set<[name: string, listener: Listener]>();
  private readonly onClick = () => (this.app ? this.app.toggle() : this.open());
  private readonly launcher = new Launcher(() => {
    this.launcher.button.addEventListener('click', this.onClick);
    this.app?.listen();
  });

  constructor(
    private readonly site: Site,
    private readonly appUrl: string,
  ) {}

  open(): void {
    if (this.app) return this.app.open();
    this.wish = 'open';
    this.launcher.setState('loading');
    this.load();
  }

  close(): void {
    this.wish = 'close';
    this.app?.close();
  }

  identify(identity: Identity): void {
    this.identity = identity;
    this.app?.identify(identity);
  }

  logout(): void {
    this.identity = null;
    this.app?.logout();
  }

  set(settings?: WidgetSettings): void {
    this.launcher.show(settings);
    this.app?.set(this.launcher.settings);
  }

  on(name: string, listener: Listener): () => void {
    const entry: [string, Listener] = [name, listener];
    this.listeners.add(entry);
    return () => void this.listeners.delete(entry);
  }

  emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void {
    for (const [ofName, listener] of [...this.listeners])
      try {
        if (ofName === name) listener(detail);
      } catch (error) {
        // An error in a listener of the page must not stop the widget.
        console.error(error);
      }
  }

  load(): void {
    this.loading ??= this.start().catch((error: unknown) => {
      this.loading = undefined;
      // The failure is shown only to a visitor who waits for the panel to open.
      this.launcher.setState(this.wish === 'open' ? 'failed' : 'ready');
      this.wish = undefined;
      this.emit('error', { code: 'load', message: String(error) });
    });
  }

  private async start(): Promise<void> {
    // Each attempt imports another address, because browsers may cache the failure of an import.
    const query = this.attempts++ ? `?retry=${this.attempts}` : '';
    const { start } = (await import(/* @vite-ignore */ this.appUrl + query)) as AppModule;
    const { identity, launcher } = this;
    const { button, shadow, keepStyles, settings } = launcher;
    const emit: LoaderContext['emit'] = (name, detail) => this.emit(name, detail);
    const app = await start({ ...this.site, button, shadow, keepStyles, settings, identity, emit });
    this.app = app;
    launcher.setState('ready');
    // The page may have changed its settings or identity while the app was starting.
    app.set(launcher.settings);
    if (this.identity !== identity) {
      if (this.identity) app.identify(this.identity);
      else app.logout();
    }
    if (this.wish) app[this.wish]();
  }
}
