/** Media query for screens that the panel fills: phones and magnified pages. panel.css repeats it. */
const NARROW = '(max-width: 480px), (max-height: 420px)';

/** Writes the size of the visible part of the page, which a phone's keyboard reduces, to CSS variables. */
export class Viewport {
  readonly styles = new CSSStyleSheet();
  private readonly narrow = matchMedia(NARROW);
  private readonly rule: CSSStyleRule;
  private readonly measure = () => {
    // The values are read only for a panel in full screen, because reading them forces a layout.
    if (!this.isNarrow) return;
    const { height, offsetTop } = visualViewport!;
    this.rule.style.setProperty('--viewport-height', `${height}px`);
    this.rule.style.setProperty('--viewport-top', `${offsetTop}px`);
  };

  constructor(private readonly onChange: () => void) {
    this.styles.insertRule('.root {}');
    this.rule = this.styles.cssRules[0] as CSSStyleRule;
  }

  get isNarrow(): boolean {
    return this.narrow.matches;
  }

  start(): void {
    this.measure();
    this.listen('addEventListener');
  }

  stop(): void {
    this.listen('removeEventListener');
  }

  private listen(change: 'addEventListener' | 'removeEventListener'): void {
    visualViewport![change]('resize', this.measure);
    visualViewport![change]('scroll', this.measure);
    this.narrow[change]('change', this.onChange);
  }
}
