/** No other element may cover the message at these three points, as fractions of its width and height. */
const POINTS = [0.25, 0.5, 0.75];

/**
 * Reports whether a person with the page open sees the newest message. CSS must not hide the widget, the log
 * must be within the browser's visible area, and no element may cover the message's visible part.
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
