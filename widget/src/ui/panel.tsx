import { h, render } from 'preact';
import type { LoaderContext } from '../app-contract';
import type { MailModule } from '../answers-by-mail/contract';
import type { Chat, ChatDisplay } from '../chat';
import { itemsOf } from '../conversation/chat-items';
import { MAX_FILES, MAX_FILE_MEBIBYTES } from '../files/chosen-files';
import { FilePartsLoader } from '../files/file-parts-loader';
import { unsentFiles } from '../files/item-files';
import { fill, plural } from '../locales/locale';
import { Dialog } from './dialog';
import { LauncherFace } from './launcher-face';
import { Preview } from './preview';
import { isInSight } from './in-sight';
import panelCss from './panel.css?inline';
import { storable } from './text';
import type { Actions, View } from './view';
import { Viewport } from './viewport';

/** Milliseconds before a lost connection is shown, because most connections are restored sooner. */
const LOST_NOTICE_MS = 3000;
/** Milliseconds for which a chosen file waits for the parts that measure pictures. */
const PARTS_MS = 1000;
/** Milliseconds for which the panel shows that an action has failed. */
const NOTICE_MS = 8000;

/**
 * Events that are hidden from the page, because the page's handlers could run shortcuts, scroll, move the
 * focus to a dialog of the page, or prevent selection, copy and paste.
 */
const OWN_EVENTS = (
  'keydown keypress keyup wheel touchmove pointerdown mousedown focusin focusout selectstart contextmenu ' +
  'dragstart copy cut paste beforeinput'
).split(' ');

/** Draws the chat as a dialog in the page. Several changes within one frame are drawn once. */
export class Panel implements ChatDisplay {
  private readonly root = document.createElement('div');
  private readonly viewport: Viewport;
  private readonly actions: Actions;
  private frame = 0;
  private readonly launcher: LauncherFace;
  private lostSince: number | null = null;
  private notice: string | null = null;
  private readonly fileParts: FilePartsLoader;
  /** Parts of files, from 0 to 1, that are sent. */
  private readonly progress = new Map<string, number>();
  private noticeTimer: ReturnType<typeof setTimeout> | undefined;
  /** Stored message that the visitor is editing, and its new text so far; null if there is none. */
  private editing: { owner: string; changeId: string; body: string } | null = null;

  constructor(
    private readonly chat: Chat,
    private readonly context: LoaderContext,
  ) {
    const styles = new CSSStyleSheet();
    styles.replaceSync(panelCss);
    const { shadow } = context;
    this.viewport = new Viewport(() => this.update());
    this.addStyles(styles, this.viewport.styles);
    this.root.className = 'root';
    for (const name of OWN_EVENTS)
      this.root.addEventListener(name, (event) => event.stopPropagation(), { passive: true });
    shadow.prepend(this.root);
    this.launcher = new LauncherFace(context.button);
    this.fileParts = new FilePartsLoader(
      {
        h,
        shadow,
        texts: () => chat.locale.texts,
        languageTag: () => chat.locale.tag,
        read: (file) => chat.visitor.readFile(file),
        progressOf: (fileId) => this.progress.get(fileId) ?? 0,
      },
      ({ styles: ofParts }) => {
        this.addStyles(ofParts);
        this.update();
      },
    );
    this.actions = {
      close: () => chat.close(),
      escape: () => (this.edited ? this.edit(null) : chat.close()),
      send: (body) => {
        const { edited } = this;
        if (!edited) return void chat.send(body.trim() && storable(body));
        void this.change(edited.changeId, storable(body));
      },
      keepDraft: (body) => {
        if (this.edited) this.edited.body = body;
        else chat.keepDraft(body);
      },
      edit: (changeId, body) => this.edit({ owner: chat.visitor.owner, changeId, body }),
      remove: (changeId) => void this.change(changeId, null),
      retry: (clientMessageId) => {
        this.focus();
        void chat.visitor.outbox.retry(clientMessageId);
      },
      loadOlder: () => chat.visitor.loadOlder(),
      addFiles: (files) => void this.addFiles([...files]),
      removeFile: (fileId) => {
        this.focus();
        void chat.visitor.chosen.remove(fileId);
      },
      cancel: (clientMessageId) => {
        this.focus();
        void chat.visitor.outbox.cancel(clientMessageId);
      },
      submitForm: (visitor) => {
        chat.completeForm(visitor);
        this.draw();
        this.focus();
      },
      scrolled: () => chat.visitor.look(),
    };
  }

  get isFullScreen(): boolean {
    return this.viewport.isNarrow;
  }

  show(): void {
    this.viewport.start();
    this.draw();
  }

  hide(): void {
    const hadFocus = this.context.shadow.activeElement !== null;
    this.viewport.stop();
    this.draw();
    if (hadFocus) this.context.button.focus();
  }

  focus(): void {
    const { root } = this;
    (
      root.querySelector<HTMLElement>('textarea, .visitor-form input') ?? root.querySelector('button')
    )?.focus();
  }

  /** Draws the present state in the next frame. */
  update(): void {
    this.drawLauncher();
    // The browser gives a hidden page no frames, so the panel is drawn when the page is visible again.
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  redraw(): void {
    render(null, this.root);
    this.draw();
  }

  isNewestSeen(): boolean {
    const log = this.root.querySelector<HTMLElement>('[data-at-end=true]');
    return document.visibilityState === 'visible' && log !== null && isInSight(this.context.shadow, log);
  }

  showProgress(fileId: string, part: number): void {
    this.progress.set(fileId, part);
    const bar = this.root.querySelector<HTMLProgressElement>(`progress[data-file="${fileId}"]`);
    if (bar) bar.value = part;
  }

  private addStyles(...sheets: CSSStyleSheet[]): void {
    this.context.shadow.adoptedStyleSheets.push(...sheets);
    this.context.keepStyles?.();
  }

  /** Edit of the present visitor; null if there is none. The edit of a previous visitor is ignored. */
  private get edited(): typeof this.editing {
    return this.editing?.owner === this.chat.visitor.owner ? this.editing : null;
  }

  private edit(editing: typeof this.editing): void {
    this.editing = editing;
    this.draw();
    this.focus();
  }

  /** Replaces a message's text; null deletes it. If the change fails, the visitor can save the text again. */
  private async change(changeId: string, body: string | null): Promise<void> {
    const { edited } = this;
    this.edit(null);
    try {
      await this.chat.visitor.change(changeId, body);
    } catch {
      this.say(this.chat.locale.texts.notChanged);
      if (body !== null && !this.editing) this.edit(edited && { ...edited, body });
    }
  }

  private drawLauncher(): void {
    const { isOpen, locale, visitor } = this.chat;
    const { unread } = visitor;
    const { openChat, closeChat, unread: texts } = locale.texts;
    const label = unread > 0 ? plural(locale, texts, unread) : openChat;
    this.launcher.update(isOpen, unread, isOpen ? closeChat : label);
  }

  private draw(): void {
    const { root, chat } = this;
    this.drawLauncher();
    root.dir = getComputedStyle(document.documentElement).direction;
    root.lang = chat.locale.tag;
    render(
      chat.isOpen ? (
        <Dialog key={chat.visitor.owner} view={this.view()} actions={this.actions} />
      ) : (
        this.preview()
      ),
      root,
    );
  }

  private preview() {
    const { chat } = this;
    const answer = chat.preview;
    return (
      answer && (
        <Preview
          key={answer.id}
          name={answer.senderName}
          body={(answer.isDescribed && answer.attachments?.map(({ name }) => name).join(', ')) || answer.body}
          texts={chat.locale.texts}
          onOpen={() => chat.open()}
          onDismiss={() => {
            chat.dismissPreview();
            this.context.button.focus();
          }}
        />
      )
    );
  }

  private view(): View {
    const { chat } = this;
    const edited = () => this.edited;
    const { locale, settings, visitor } = chat;
    const { texts } = locale;
    const { typist } = visitor.presence;
    const hasOlder = visitor.timeline.olderCursor !== null;
    const items = itemsOf(visitor.timeline.messages, visitor.outbox.records, hasOlder);
    const isLoading = visitor.hasBegun && !visitor.timeline.isLoaded && chat.refusal === null;
    const trouble = this.trouble();
    const hasFiles = visitor.chosen.list.length > 0 || items.some(({ files }) => files.length > 0);
    if (hasFiles) void this.fileParts.load();
    const wantsForm = visitor.isAnonymous && items.length === 0 && !isLoading && !chat.isFormDone;
    return {
      locale,
      title: settings.title ?? texts.title,
      welcome: settings.welcome ?? texts.welcome,
      items,
      isLoading,
      hasOlder,
      get hasUnread() {
        return chat.visitor.unread > 0;
      },
      notice: this.notice ?? trouble,
      isOnline: visitor.presence.isOnline === true && trouble === null,
      typing: typist === null ? null : fill(texts.typing, { name: typist || texts.support }),
      // A getter, because the visitor or the text may change before the panel is drawn again.
      get draft() {
        return edited()?.body ?? chat.visitor.draft;
      },
      get chosen() {
        return unsentFiles([...chat.visitor.chosen.list]);
      },
      parts: this.fileParts.parts,
      get isEditing() {
        return edited() !== null;
      },
      isRefused: chat.refusal !== null,
      canWrite: chat.refusal !== 'unavailable',
      form: (wantsForm && settings.form) || null,
      isFullScreen: this.isFullScreen,
      offerMail: visitor.timeline.messages.length > 0 ? this.offerMail : null,
    };
  }

  /** Asks for an address for answers. The form is optional, so a failure to load it is not shown. */
  private readonly offerMail = async (box: HTMLElement | null): Promise<void> => {
    const { locale, visitor } = this.chat;
    if (!box) return;
    try {
      const url = new URL(MAIL_FORM_PATH, import.meta.url).href;
      const { offerMail } = (await import(/* @vite-ignore */ url)) as MailModule;
      await offerMail(box, {
        tag: locale.tag,
        call: (method, body) => visitor.session.call(method, '/answer-address', body),
      });
      this.context.keepStyles?.();
    } catch {
      // The form appears when the panel is opened again.
    }
  };

  private async addFiles(files: File[]): Promise<void> {
    const { chat, fileParts } = this;
    const { texts } = chat.locale;
    if (this.edited || chat.refusal === 'unavailable') return this.say(texts.noFiles);
    this.focus();
    // A file must be in the draft even if the network is down.
    await Promise.race([fileParts.load(), new Promise((resolve) => setTimeout(resolve, PARTS_MS))]);
    const problem = await chat.visitor.chosen.add(files, fileParts.parts?.measure);
    if (!problem) return;
    const { text, name } = problem;
    this.say(fill(texts[text], { name, limit: text === 'tooManyFiles' ? MAX_FILES : MAX_FILE_MEBIBYTES }));
  }

  private say(notice: string): void {
    clearTimeout(this.noticeTimer);
    this.notice = notice;
    this.noticeTimer = setTimeout(() => {
      this.notice = null;
      this.update();
    }, NOTICE_MS);
    this.update();
  }

  /** Returns the text that explains why the chat does not work at present; null if it works. */
  private trouble(): string | null {
    const { chat } = this;
    const { texts } = chat.locale;
    if (chat.refusal) return texts[chat.refusal];
    if (!navigator.onLine) return texts.offline;
    if (chat.visitor.connection !== 'lost') {
      this.lostSince = null;
      return null;
    }
    if (this.lostSince === null) setTimeout(() => this.update(), LOST_NOTICE_MS);
    this.lostSince ??= performance.now();
    return performance.now() - this.lostSince >= LOST_NOTICE_MS ? texts.unreachable : null;
  }
}
