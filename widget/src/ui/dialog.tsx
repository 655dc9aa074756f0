import type { TargetedKeyboardEvent } from 'preact';
import { Composer } from './composer';
import { onKeys } from './composition';
import { Icon } from './icons';
import { MessageLog } from './message-log';
import type { Actions, View } from './view';
import { VisitorFormFields } from './visitor-form';

const FOCUSABLE = 'button:not(:disabled), a[href], input, textarea:not(:disabled), [tabindex="0"]';

export function Dialog({ view, actions }: { view: View; actions: Actions }) {
  const { texts } = view.locale;

  const onKeyDown = onKeys((event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.key === 'Escape') actions.escape();
    if (event.key === 'Tab' && view.isFullScreen) keepFocus(event, event.currentTarget);
  });

  return (
    <div
      class="panel"
      role="dialog"
      aria-modal={view.isFullScreen}
      aria-labelledby="title"
      onKeyDown={onKeyDown}
      onDragOver={(event) => event.currentTarget.classList.toggle('dropping', keepDrop(event))}
      onDragLeave={(event) => event.currentTarget.classList.remove('dropping')}
      onDrop={(event) => {
        event.currentTarget.classList.remove('dropping');
        if (keepDrop(event)) actions.addFiles(event.dataTransfer!.files);
      }}
      onPaste={(event) => {
        if (!isOfFilesAlone(event.clipboardData)) return;
        event.preventDefault();
        actions.addFiles(event.clipboardData!.files);
      }}
    >
      <header class="header">
        <div class="heading">
          <h2 id="title" class="title" dir="auto">
            {view.title}
          </h2>
          {view.isOnline && <p class="online">{texts.online}</p>}
        </div>
        <button
          type="button"
          class="close"
          aria-label={texts.closeChat}
          title={texts.closeChat}
          onClick={actions.close}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="notice" role="status">
        {view.notice && <p>{view.notice}</p>}
      </div>
      <MessageLog view={view} actions={actions} />
      {view.offerMail && <div ref={view.offerMail} />}
      {view.form ? (
        <VisitorFormFields form={view.form} texts={texts} onSubmit={actions.submitForm} />
      ) : (
        <Composer view={view} actions={actions} />
      )}
    </div>
  );
}

/**
 * Hides a drag or drop from the page, and prevents the browser from opening a dropped file or link. Text may
 * be dropped on fields. Returns whether the drag contains files.
 */
function keepDrop(event: DragEvent): boolean {
  const hasFiles = event.dataTransfer?.types.includes('Files') ?? false;
  event.stopPropagation();
  if (hasFiles || !(event.target as Element).matches('textarea, input')) event.preventDefault();
  return hasFiles;
}

function isOfFilesAlone(data: DataTransfer | null): boolean {
  return data !== null && data.files.length > 0 && !data.types.includes('text/plain');
}

/** Keeps the Tab key's focus within a full-screen panel, because the panel hides the rest of the page. */
function keepFocus(event: KeyboardEvent, element: HTMLElement): void {
  const focusable = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)];
  const active = (element.getRootNode() as ShadowRoot).activeElement;
  const leaves = event.shiftKey ? focusable[0] : focusable.at(-1);
  if (active !== leaves) return;
  event.preventDefault();
  (event.shiftKey ? focusable.at(-1) : focusable[0])?.focus();
}
