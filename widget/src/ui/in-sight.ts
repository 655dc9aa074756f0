/** Parts of the width and height of the newest message at which a person must see it. */
const POINTS = [0.25, 0.5, 0.75];

/**
 * Reports whether a person who looks at the page sees the newest message: the widget is in the page and drawn
 * (`display`, `visibility`, `opacity`), the page is in view where it is a frame, and nothing covers the part
 * of the message that the log shows.
 */
export function isInSight(shadow: ShadowRoot, log: HTMLElement): boolean {
  const { host } = shadow;
  const isDrawn = host.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  if (!isDrawn || log.dataset['inView'] !== 'true') return false;
  const frame = log.getBoundingClientRect();
  const newest = [...log.querySelectorAll('.bubble')].at(-1)?.getBoundingClientRect() ?? frame;
  const top = Math.max(frame.top, newest.top);
  const height = Math.min(frame.bottom, newest.bottom) - top;
  return POINTS.every((part) =>
    log.contains(shadow.elementFromPoint(newest.left + newest.width * part, top + height * part)),
  );
}
