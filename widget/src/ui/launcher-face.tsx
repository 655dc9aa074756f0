import { render } from 'preact';
import { Icon } from './icons';

/** Draws on the launcher's button: an arrow, which shows that the panel is open, and the unread number. */
export class LauncherFace {
  private readonly place = document.createElement('span');

  constructor(private readonly button: HTMLButtonElement) {
    button.append(this.place);
    this.update(false, 0, button.ariaLabel ?? '');
  }

  update(isOpen: boolean, unread: number, label: string): void {
    const { button } = this;
    button.ariaExpanded = String(isOpen);
    button.ariaLabel = button.title = label;
    const face = (
      <>
        <Icon name="chevron" />
        {unread > 0 && (
          <span class="badge" aria-hidden="true">
            {unread > 9 ? '9+' : unread}
          </span>
        )}
      </>
    );
    render(face, this.place);
  }
}
