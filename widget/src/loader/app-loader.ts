import { sessionKeyOf, type AppModule, type ChatApp, type LoaderContext } from '../app-contract';
import type { Identity, WidgetEvents, WidgetSettings } from '../page-api';
import type { Launcher } from './launcher';

type Listener = (detail: never) => void;
type GivenContext = Pick<LoaderContext, 'fetch' | 'serviceUrl' | 'siteKey' | 'shadow'> & {
  launcher: Launcher;
};

/** Loads the app once. Until then it keeps what the page has said, for the app's start. */
export class AppLoader {
  settings: WidgetSettings = {};
  private identity: Identity | null = null;
  private app: ChatApp | null = null;
  private loading: Promise<ChatApp | null> | null = null;
  private attempts = 0;
  private wantsOpen = false;
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(
    private readonly context: GivenContext,
    private readonly appUrl: string,
  ) {
    context.launcher.button.addEventListener('click', () => {
      if (this.app) this.app.toggle();
      else this.open();
    });
  }

  open(): void {
    if (this.app) return this.app.open();
    this.wantsOpen = true;
    this.context.launcher.setState('loading', this.settings);
    void this.load();
  }

  close(): void {
    this.wantsOpen = false;
    this.app?.close();
  }

  identify(identity: Identity): void {
    this.identity = identity;
    this.app?.identify(identity);
  }

  logout(): void {
    this.identity = null;
    if (this.app) this.app.logout();
    else if (this.loading) void this.loading.then((app) => app?.logout());
    else if (sessionOwnerOf(this.context.siteKey)?.startsWith('user:'))
      localStorage.removeItem(sessionKeyOf(this.context.siteKey));
  }

  set(settings: WidgetSettings): void {
    this.settings = { ...this.settings, ...settings };
    this.context.launcher.show(this.settings);
    this.app?.set(this.settings);
  }

  on<Name extends keyof WidgetEvents>(
    name: Name,
    listener: (detail: WidgetEvents[Name]) => void,
  ): () => void {
    const ofName = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, ofName.add(listener));
    return () => void ofName.delete(listener);
  }

  emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void {
    for (const listener of [...(this.listeners.get(name) ?? [])])
      try {
        (listener as (detail: WidgetEvents[Name]) => void)(detail);
      } catch (error) {
        // A listener of the page must not stop the widget.
        console.error(error);
      }
  }

  load(): Promise<ChatApp | null> {
    return (this.loading ??= this.start().catch((error: unknown) => {
      this.loading = null;
      if (this.wantsOpen) this.context.launcher.setState('failed', this.settings);
      this.wantsOpen = false;
      this.emit('error', { code: 'load', message: `The chat could not be loaded: ${String(error)}` });
      return null;
    }));
  }

  private async start(): Promise<ChatApp> {
    // Another address for each attempt: browsers may remember that a module failed.
    const query = this.attempts++ ? `?retry=${this.attempts}-${Date.now()}` : '';
    const { start } = (await import(/* @vite-ignore */ this.appUrl + query)) as AppModule;
    const { identity, settings } = this;
    const app = await start({
      ...this.context,
      settings,
      identity,
      emit: (name, detail) => this.emit(name, detail),
    });
    this.app = app;
    if (this.settings !== settings) app.set(this.settings);
    if (this.identity && this.identity !== identity) app.identify(this.identity);
    this.context.launcher.setState('ready', this.settings);
    if (this.wantsOpen) app.open();
    return app;
  }
}

function sessionOwnerOf(siteKey: string): string | undefined {
  try {
    return (JSON.parse(localStorage.getItem(sessionKeyOf(siteKey))!) as { owner?: string } | null)?.owner;
  } catch {
    return undefined;
  }
}
